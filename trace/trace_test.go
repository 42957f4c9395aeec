package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/trace"
)

type table struct{ poolswap.Ref }

func newTables() (*poolswap.Pool[table, *table], *poolswap.Container[table, *table]) {
	pool := poolswap.NewPool(func() *table { return new(table) }, nil)
	pool.Trace(-1)
	return pool, poolswap.NewContainer(pool, new(table))
}

//go:noinline
func forgets(c *poolswap.Container[table, *table]) { c.Acquire() }

//go:noinline
func keeps(c *poolswap.Container[table, *table], n int) {
	for range n {
		c.Acquire()
	}
}

// names returns the functions of a sample.
func names(s *profile.Sample) (all []string) {
	for _, l := range s.Location {
		for _, line := range l.Line {
			all = append(all, line.Function.Name)
		}
	}
	return all
}

func TestProfileHasEachPlaceOnce(t *testing.T) {
	pool, c := newTables()
	keeps(c, 3)
	c.Update(c.GetNew())
	forgets(c)
	var file bytes.Buffer
	if err := trace.Write(&file, pool.Holders()); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&file)
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Sample) != 2 {
		t.Fatalf("%d samples, want one for each place: %v", len(p.Sample), p)
	}
	for i, want := range []struct {
		function   string
		references int64
		version    int64
	}{{"keeps", 3, 1}, {"forgets", 1, 2}} {
		s := p.Sample[i]
		functions := strings.Join(names(s), " ")
		if s.Value[0] != want.references || s.Value[1] <= 0 || s.NumLabel["version"][0] != want.version || !strings.Contains(functions, "trace_test."+want.function+" ") {
			t.Errorf("sample %d: %v of version %v by %s", i, s.Value, s.NumLabel["version"], functions)
		}
	}
}

// TestToolReadsTheProfile: go tool pprof finds the line.
func TestToolReadsTheProfile(t *testing.T) {
	pool, c := newTables()
	forgets(c)
	answer := httptest.NewRecorder()
	trace.Handler(pool).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	name := filepath.Join(t.TempDir(), "holders")
	if err := os.WriteFile(name, answer.Body.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command("go", "tool", "pprof", "-lines", "-traces", name).CombinedOutput()
	if err != nil || !strings.Contains(string(output), "trace_test.forgets") || !strings.Contains(string(output), "trace_test.go:") {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestHandlerShowsText(t *testing.T) {
	pool, c := newTables()
	other, _ := newTables()
	forgets(c)
	answer := httptest.NewRecorder()
	trace.Handler(other, pool).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/?debug=1", nil))
	if text := answer.Body.String(); !strings.HasPrefix(text, "version 1, since ") || !strings.Contains(text, "trace_test.forgets\n") || answer.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("answers %q", text)
	}
}

func TestEmptyProfileIsValid(t *testing.T) {
	var file bytes.Buffer
	if err := trace.Write(&file, nil); err != nil {
		t.Fatal(err)
	}
	if p, err := profile.Parse(&file); err != nil || len(p.Sample) != 0 {
		t.Errorf("%v, %v", p, err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestWriteFailsWithItsWriter(t *testing.T) {
	if err := trace.Write(broken{}, nil); err == nil {
		t.Error("no error")
	}
}

func ExampleWrite() {
	pool, tables := newTables()
	forgets(tables)

	var file bytes.Buffer
	fmt.Println(trace.Write(&file, pool.Holders()))
	p, _ := profile.Parse(&file)
	fmt.Println(len(p.Sample), "place holds", p.Sample[0].Value[0], p.SampleType[0].Type)
	// Output:
	// <nil>
	// 1 place holds 1 references
}
