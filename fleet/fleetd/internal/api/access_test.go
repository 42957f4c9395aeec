package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/api"
)

// TestRolesHaveTheirRights tries each route with each role.
func TestRolesHaveTheirRights(t *testing.T) {
	s := newServer(t)
	r, _ := s.publish("asn", "content")
	least := map[string]fleet.Role{
		"GET /v1/names/{name}/plan":                  fleet.ReplicaRole,
		"GET /v1/names/{name}/content/{sha256}":      fleet.ReplicaRole,
		"GET /v1/names/{name}/revisions/{id}/chain":  fleet.ReplicaRole,
		"GET /v1/names/{name}/revisions/{id}/deltas": fleet.ReplicaRole,

		"GET /v1/names":                                 fleet.ReaderRole,
		"GET /v1/names/{name}/status":                   fleet.ReaderRole,
		"GET /v1/names/{name}/history":                  fleet.ReaderRole,
		"GET /v1/names/{name}/revisions":                fleet.ReaderRole,
		"GET /metrics":                                  fleet.ReaderRole,
		"POST /v1/names/{name}/revisions":               fleet.PublisherRole,
		"PUT /v1/names/{name}/revisions/{id}/signature": fleet.PublisherRole,
		"PATCH /v1/names/{name}/plan":                   fleet.PublisherRole,
		"POST /v1/names/{name}/verify":                  fleet.AdminRole,
		"POST /v1/names/{name}/repair":                  fleet.AdminRole,
		"DELETE /v1/names/{name}":                       fleet.AdminRole,
		"GET /v1/tokens":                                fleet.AdminRole,
		"POST /v1/tokens":                               fleet.AdminRole,
		"DELETE /v1/tokens/{id}":                        fleet.AdminRole,
		"PUT /v1/names/{name}/replicas/{id}":            "itself",
		"DELETE /v1/names/{name}/replicas/{id}":         "itself",
		"GET /healthz":                                  "open",
		"GET /readyz":                                   "open",
	}
	rank := map[fleet.Role]int{"open": -1}
	for i, role := range fleet.Roles() {
		rank[role] = i
	}
	for _, route := range api.Routes() {
		role, ok := least[route]
		if !ok {
			t.Errorf("no role is known for %s", route)
			continue
		}
		method, path, _ := strings.Cut(route, " ")
		path = strings.NewReplacer("{name}", "asn", "{sha256}", r.SHA256, "{id}", "r1").Replace(path)
		body := map[bool]string{true: `{"unknown": 1}`}[method == "POST" || method == "PUT" || method == "PATCH"]
		if strings.HasSuffix(path, "/revisions") && method == "POST" {
			path += "?id=r1"
		}
		for _, has := range fleet.Roles() {
			ids := map[bool]string{true: "r*"}[has == fleet.ReplicaRole]
			t.Run(fmt.Sprintf("%s of %s", route, has), func(t *testing.T) {
				may := rank[has] >= rank[role]
				if role == "itself" {
					may = has == fleet.ReplicaRole || has == fleet.AdminRole
				}
				if method != "DELETE" || path != "/v1/names/asn" || !may { // the rest needs the name
					a := s.do(s.token(has, "*", ids), method, path, body)
					if refused := a.status == http.StatusForbidden; refused == may {
						t.Errorf("with the right %t: %d %s", may, a.status, a.text)
					}
				}
				global := !strings.Contains(route, "{name}") && route != "GET /v1/names" && role != "open"
				if a := s.do(s.token(has, "other*", ids), method, path, body); role != "open" && route != "GET /v1/names" && a.status != http.StatusForbidden {
					t.Errorf("with a token for other names (global %t): %d %s", global, a.status, a.text)
				}
			})
		}
		if role != "open" {
			s.want(http.StatusUnauthorized, "unauthorized", "", method, path, body)
		}
	}
	s.want(http.StatusNoContent, "", s.token(fleet.AdminRole, "asn", ""), "DELETE", "/v1/names/asn?why=test", "")
}

func TestPublishersOnlyPublish(t *testing.T) {
	s := newServer(t)
	_, _ = s.publish("asn", "one")
	token := s.token(fleet.PublisherRole, "*", "")
	r := decode[fleet.Revision](t, s.want(201, "", token, "POST", "/v1/names/asn/revisions", "two"))
	for _, kind := range []fleet.Kind{fleet.KindCanary, fleet.KindPromote, fleet.KindRollback, fleet.KindRollout, fleet.KindPin, fleet.KindUnpin, fleet.KindPause, fleet.KindResume} {
		s.want(403, "forbidden", token, "PATCH", "/v1/names/asn/plan", fmt.Sprintf(`{"kind": %q}`, kind))
	}
	s.want(200, "", token, "PATCH", "/v1/names/asn/plan", fmt.Sprintf(`{"kind": "publish", "revision": %q}`, r.ID))
	s.want(200, "", s.token(fleet.OperatorRole, "*", ""), "PATCH", "/v1/names/asn/plan", `{"kind": "pause"}`)
}

func TestReplicasReportForTheirIDsAlone(t *testing.T) {
	s := newServer(t)
	s.publish("asn", "one")
	const report = `{"id": %q, "at": "2026-11-23T15:21:00Z", "every_ns": 30000000000}`
	for _, test := range []struct {
		ids, id string
		status  int
	}{
		{"r7", "r7", 204},
		{"r7", "r8", 403},
		{"r7", "r77", 403},
		{"r*", "r8", 204},
		{"r*", "s8", 403},
		{"*", "x", 204},
		{"eu-*-db*", "eu-1-db2", 204},
		{"eu-*-db*", "eu-1-web", 403},
		{"*-a", "b-a", 204},
		{"a*a", "a", 403},
		{"r7", "R7", 403},
	} {
		token := s.token(fleet.ReplicaRole, "asn", test.ids)
		if a := s.do(token, "PUT", "/v1/names/asn/replicas/"+test.id, fmt.Sprintf(report, test.id)); a.status != test.status {
			t.Errorf("a token for %s and the report of %s: %d %s", test.ids, test.id, a.status, a.text)
		}
		if a := s.do(token, "DELETE", "/v1/names/asn/replicas/"+test.id, ""); a.status != test.status {
			t.Errorf("a token for %s, and %s leaves: %d %s", test.ids, test.id, a.status, a.text)
		}
	}
}

func TestTokensAreMadeListedAndRevokedWhileItRuns(t *testing.T) {
	s := newServer(t)
	admin := s.tokenOf(fleet.Token{Name: "root", Role: fleet.AdminRole, Names: "*"})
	made := decode[fleet.Token](t, s.want(201, "", admin, "POST", "/v1/tokens", `{"name": "ann", "role": "reader", "names": "a*"}`))
	if made.By != "root" || made.ID == "" || !strings.HasPrefix(made.Text, "psw_"+made.ID+"_") {
		t.Errorf("it made %+v", made)
	}
	s.want(200, "", made.Text, "GET", "/v1/names", "")
	list := s.want(200, "", admin, "GET", "/v1/tokens", "")
	if secret := made.Text[strings.LastIndex(made.Text, "_")+1:]; strings.Contains(list.text, secret) || !strings.Contains(list.text, made.ID) || strings.Contains(s.log.String(), secret) {
		t.Errorf("the list is %s, the log\n%s", list.text, s.log)
	}
	other := decode[fleet.Token](t, s.want(201, "", admin, "POST", "/v1/tokens", `{"name": "ann", "role": "reader", "names": "*"}`))
	s.want(204, "", admin, "DELETE", "/v1/tokens/"+made.ID, "")
	s.want(401, "unauthorized", made.Text, "GET", "/v1/names", "")
	s.want(200, "", other.Text, "GET", "/v1/names", "")
	s.want(404, "not_found", admin, "DELETE", "/v1/tokens/"+made.ID, "")
	for _, body := range []string{
		``, `{}`, `[]`, `{"name": "ann", "role": "root", "names": "*"}`, `{"name": "ann", "role": "reader"}`, `{"role": "reader", "names": "*"}`,
		`{"name": "ann", "role": "replica", "names": "*"}`, `{"name": "ann", "role": "reader", "names": "*", "ids": "*"}`, `{"name": "fleetd", "role": "admin", "names": "*"}`,
		`{"name": "ann", "role": "reader", "names": "*", "expires": "2020-01-01T00:00:00Z"}`, `{"name": "ann", "role": "reader", "names": "*", "id": "mine"}`,
		`{"name": "ann", "role": "reader", "names": "*", "by": "bob"}`, `{"name": "ann", "role": "reader", "names": "*"} {}`, `{"name": "a\nb", "role": "reader", "names": "*"}`,
	} {
		s.want(400, "bad_request", admin, "POST", "/v1/tokens", body)
	}
}

func TestBadTokensAreRefusedAndLogged(t *testing.T) {
	s := newServer(t)
	good := s.token(fleet.ReaderRole, "*", "")
	id := strings.Split(good, "_")[1]
	expired := s.tokenOf(fleet.Token{Name: "old", Role: fleet.AdminRole, Names: "*", Expires: time.Now().Add(-time.Second)})
	for _, bad := range []string{good + "A", good[:len(good)-1], "psw_" + id, "psw_" + id + "_", "psw_none_" + strings.Split(good, "_")[2], strings.TrimPrefix(good, "psw_"), "psw__", expired} {
		a := s.want(401, "unauthorized", bad, "GET", "/v1/names", "")
		if a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%q: %v", bad, a.header)
		}
	}
	s.want(401, "unauthorized", "", "GET", "/v1/names", "", "Authorization", "Basic "+good)
	s.want(401, "unauthorized", "", "GET", "/v1/names", "", "Authorization", good)
	s.want(200, "", "", "GET", "/v1/names", "", "Authorization", "bearer "+good)
	if log := s.log.String(); strings.Count(log, "a request was refused") != 10 || !strings.Contains(log, "address=127.0.0.1") || strings.Contains(log, strings.Split(good, "_")[2]) {
		t.Errorf("the log is\n%s", log)
	}
	for range 5 * api.RefusalBurst {
		s.want(401, "unauthorized", "", "GET", "/v1/names", "")
	}
	if lines := strings.Count(s.log.String(), "\n"); lines > 3*api.RefusalBurst {
		t.Errorf("%d lines for a flood", lines)
	}
	s.await("a line for the rest of the flood", func() bool {
		s.want(401, "unauthorized", "", "GET", "/v1/names", "")
		return strings.Contains(s.log.String(), "not_logged=")
	})
}

func TestConnectionsWithoutATokenAreClosed(t *testing.T) {
	s := newServer(t)
	_, _ = s.publish("asn", "one")
	for _, header := range []string{"", "Authorization: Bearer psw_a_b\r\n"} {
		text := s.raw("GET /v1/names HTTP/1.1\r\nHost: fleet\r\n" + header + "\r\nGET /v1/names HTTP/1.1\r\nHost: fleet\r\n\r\n")
		if strings.Count(text, "HTTP/1.1 ") != 1 || !strings.Contains(text, "Connection: close") {
			t.Errorf("it answers %q", text)
		}
	}
}

func TestFailuresDoNotFloodTheLog(t *testing.T) {
	s := newServer(t)
	reader := s.token(fleet.ReaderRole, "*", "")
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	for range 5 * api.RefusalBurst {
		s.want(503, "unavailable", reader, "GET", planPath, "")
	}
	if lines := strings.Count(s.log.String(), "\n"); lines == 0 || lines > 3*api.RefusalBurst {
		t.Errorf("the log has %d lines: %.300s", lines, s.log)
	}
}

// Another user may have put a link where the file of the token is going to be.
func TestFirstTokenFollowsNoLink(t *testing.T) {
	s := newServer(t)
	dir := t.TempDir()
	file, other := filepath.Join(dir, "admin.token"), filepath.Join(dir, "other")
	if err := errors.Join(os.WriteFile(other, nil, 0o666), os.Symlink(other, file+".part")); err != nil {
		t.Fatal(err)
	}
	if made, err := s.api.FirstToken(t.Context(), file); err != nil || !made {
		t.Fatal(made, err)
	}
	if text, err := os.ReadFile(other); err != nil || len(text) > 0 {
		t.Errorf("the other file has %q, %v", text, err)
	}
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s.want(200, "", strings.TrimSpace(string(text)), "GET", "/v1/tokens", "")
}
