package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/api"
)

// described returns docs/fleet.openapi.yaml.
var described = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromFile("../../../../docs/fleet.openapi.yaml")
	if err != nil {
		return nil, err
	}
	return doc, doc.Validate(context.Background())
})

// description returns it with objects that take no other fields than it names: clients
// ignore unknown fields, and this server sends none.
var description = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromFile("../../../../docs/fleet.openapi.yaml")
	if err != nil {
		return nil, err
	}
	for _, schema := range doc.Components.Schemas {
		if none := false; schema.Value.Type.Is("object") && schema.Value.AdditionalProperties.Has == nil && schema.Value.AdditionalProperties.Schema == nil {
			schema.Value.AdditionalProperties.Has = &none
		}
	}
	return doc, nil
})

// conforms returns a handler that holds each answer of next, and each request that it
// takes, against the description.
func conforms(t *testing.T, next http.Handler) http.Handler {
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent bytes.Buffer
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, &sent), r.Body}
		seen := &seenAnswer{ResponseWriter: w}
		next.ServeHTTP(seen, r)
		if err := check(doc, r, sent.Bytes(), seen); err != nil {
			t.Errorf("%s %s, %d: not as described: %v", r.Method, r.URL, seen.status, err)
		}
	})
}

// seenAnswer is a ResponseWriter that knows the answer.
type seenAnswer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (s *seenAnswer) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *seenAnswer) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func (s *seenAnswer) Write(p []byte) (int, error) {
	s.body.Write(p)
	return s.ResponseWriter.Write(p)
}

// check returns an error for an answer that the description does not have.
func check(doc *openapi3.T, r *http.Request, sent []byte, seen *seenAnswer) error {
	_, path, found := strings.Cut(r.Pattern, " ")
	item := doc.Paths.Value(path)
	if !found || item == nil || seen.status == 0 {
		return nil // no route, or the client has gone
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	operation := item.GetOperation(method)
	if operation == nil {
		return fmt.Errorf("no operation for %s", r.Pattern)
	}
	response := operation.Responses.Value(strconv.Itoa(seen.status))
	if response == nil && seen.status >= 400 {
		response = operation.Responses.Default()
	}
	if response == nil {
		return fmt.Errorf("no such status")
	}
	for name, header := range response.Value.Headers {
		switch value := seen.Header().Get(name); {
		case value == "" && header.Value.Required:
			return fmt.Errorf("no header %s", name)
		case value != "":
			if err := header.Value.Schema.Value.VisitJSON(value); err != nil {
				return fmt.Errorf("header %s: %w", name, err)
			}
		}
	}
	if r.Method == http.MethodHead {
		return nil
	}
	if err := checkBody(response.Value.Content, seen.Header().Get("Content-Type"), seen.body.Bytes(), openapi3.VisitAsResponse()); err != nil {
		return fmt.Errorf("the answer %.300s: %w", seen.body.Bytes(), err)
	}
	if body := operation.RequestBody; body != nil && seen.status < 300 {
		open, err := described()
		if err != nil {
			return err
		}
		content := open.Paths.Value(path).GetOperation(method).RequestBody.Value.Content
		if content.Get("application/json") == nil {
			return nil
		}
		if err := checkBody(content, "application/json", sent, openapi3.VisitAsRequest()); err != nil {
			return fmt.Errorf("the request %.300s: %w", sent, err)
		}
	}
	return nil
}

func checkBody(content openapi3.Content, kind string, body []byte, way openapi3.SchemaValidationOption) error {
	if len(content) == 0 && len(body) == 0 {
		return nil
	}
	kind, _, err := mime.ParseMediaType(kind)
	if err != nil {
		return err
	}
	media := content[kind]
	switch {
	case media == nil:
		return fmt.Errorf("no content type %q", kind)
	case kind != "application/json":
		return nil
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return media.Schema.Value.VisitJSON(value, way)
}

func TestDescriptionHasTheRoutesOfTheServer(t *testing.T) {
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	var described []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	served := api.Routes()
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described:\n%s\nserved:\n%s", strings.Join(described, "\n"), strings.Join(served, "\n"))
	}
}

func TestDescriptionHasTheFieldsOfTheTypes(t *testing.T) {
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]any{
		"Plan": fleet.Plan{}, "Revision": fleet.Revision{}, "Stored": fleet.Stored{}, "Change": fleet.Change{}, "Operation": fleet.Operation{},
		"Report": fleet.Report{}, "Status": fleet.Status{}, "Token": fleet.Token{},
		"Plan.canary": fleet.Canary{}, "Plan.rollout": fleet.Rollout{}, "Change.selected": fleet.Selection{}, "Report.health": fleet.Health{}, "Report.deltas": fleet.Deltas{},
	} {
		name, field, inner := strings.Cut(name, ".")
		schema := doc.Components.Schemas[name].Value
		if inner {
			schema = schema.Properties[field].Value
		}
		described := slices.Sorted(maps.Keys(schema.Properties))
		if has := fields(reflect.TypeOf(value)); !slices.Equal(described, has) {
			t.Errorf("%s %s is described with %q and has %q", name, field, described, has)
		}
	}
}

// fields returns the names of the fields in JSON, those of embedded structs included.
func fields(of reflect.Type) (names []string) {
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			names = append(names, fields(field.Type)...)
		case field.IsExported():
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestProtocolPageHasTheRoutesOfTheServer holds the tables of the page for people
// against the server.
func TestProtocolPageHasTheRoutesOfTheServer(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/fleet-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	rows := regexp.MustCompile("(?m)^\\| `([A-Z]+) (/v1/[^`? ]*)").FindAllStringSubmatch(text, -1)
	var described []string
	variables := strings.NewReplacer("/names/N", "/names/{name}", "/ID", "/{id}", "/SHA256", "/{sha256}")
	for _, row := range rows {
		described = append(described, row[1]+" "+variables.Replace(row[2]))
	}
	var served []string
	for _, route := range api.Routes() {
		if strings.Contains(route, "/v1/") {
			served = append(served, route)
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described:\n%s\nserved:\n%s", strings.Join(described, "\n"), strings.Join(served, "\n"))
	}
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range doc.Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		if !strings.Contains(text, fmt.Sprintf("`%s`", code)) {
			t.Errorf("the page does not have the code %s", code)
		}
	}
}
