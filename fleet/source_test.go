package fleet_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// origin publishes for reloadtest.
type origin struct {
	*server
	n int
}

func (o *origin) Put(_ testing.TB, content []byte) {
	o.n++
	o.on(nil)
	o.publish(fmt.Sprint("revision ", o.n), content)
}

func (o *origin) Remove(testing.TB) {
	o.on(func(w http.ResponseWriter, _ *http.Request) bool {
		refuse(w, 404, "no_plan", "it was removed")
		return true
	})
}

func TestSource(t *testing.T) {
	reloadtest.TestSource(t, func(t *testing.T) (reload.Source, reloadtest.Origin) {
		s := newServer()
		return source(t, client(t, s), fleet.SourceOptions{}), &origin{server: s}
	})
}

func TestNewSourceRefuses(t *testing.T) {
	c, many := client(t, newServer()), map[string]string{}
	for i := range 20 {
		many[fmt.Sprint(i)] = strings.Repeat("x", 125) + fmt.Sprint(i)
	}
	few := map[string]string{"a": strings.Repeat("<", 120)}
	for name, err := range map[string]error{
		"nil Client":  second(fleet.NewSource(nil, "asn", fleet.SourceOptions{ID: "r1"})),
		"name":        second(fleet.NewSource(c, "", fleet.SourceOptions{ID: "r1"})),
		"id":          second(fleet.NewSource(c, "asn", fleet.SourceOptions{})),
		"label":       second(fleet.NewSource(c, "asn", fleet.SourceOptions{ID: "r1", Labels: map[string]string{"": "x"}})),
		"20 labels":   second(fleet.NewSource(c, "asn", fleet.SourceOptions{ID: "r1", Labels: withKey(many)})),
		"bytes":       second(fleet.NewSource(c, "asn", fleet.SourceOptions{ID: "r1", Labels: escaped(20)})),
		"key":         second(fleet.NewSource(c, "asn", fleet.SourceOptions{ID: "r1", Keys: []ed25519.PublicKey{{1}}})),
		"ReportEvery": second(fleet.NewSource(c, "asn", fleet.SourceOptions{ID: "r1", ReportEvery: time.Millisecond})),
	} {
		if err == nil || !strings.Contains(err.Error(), strings.Fields(name)[0]) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if _, err := fleet.NewSource(c, "asn", fleet.SourceOptions{ID: "r1", Labels: few}); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

func withKey(labels map[string]string) map[string]string {
	labels["one more"] = "x"
	return labels
}

func escaped(n int) map[string]string {
	labels := map[string]string{}
	for i := range n {
		labels[fmt.Sprint(i)] = strings.Repeat(`"`, 120)
	}
	return labels
}

// fetched fetches, and returns the revision and the content.
func fetched(t *testing.T, s *fleet.Source, have string) (revision, text string, err error) {
	t.Helper()
	content, err := s.Fetch(t.Context(), have)
	if err != nil {
		return "", "", err
	}
	defer content.Body.Close()
	all, err := io.ReadAll(content.Body)
	if err != nil {
		return "", "", err
	}
	return content.Revision, string(all), content.Verify(sha256.Sum256(all))
}

func TestSourceTakesLaterPlansOnly(t *testing.T) {
	s := newServer()
	first := s.publish("one", []byte("one"))
	second := s.publish("two", []byte("two"))
	r := source(t, client(t, s), fleet.SourceOptions{})
	step := func(name string, plan *fleet.Plan, want string) {
		t.Helper()
		s.mu.Lock()
		s.plan = plan
		s.mu.Unlock()
		if got, text, err := fetched(t, r, ""); err != nil || got != want || text != want {
			t.Errorf("%s: Fetch returned %q with %q and %v, want %q", name, got, text, err, want)
		}
	}
	epoch := func(plan *fleet.Plan, epoch, seq uint64) *fleet.Plan {
		other := plan.Clone()
		other.Epoch, other.Seq = epoch, seq
		return other
	}
	step("the first", first, "one")
	step("a later one", second, "two")
	step("an earlier one", first, "two")
	step("a new epoch", epoch(first, 7, 1), "one")
	step("an old epoch with a high seq", epoch(second, 1, 99), "one")
	step("a later one of the new epoch", epoch(second, 7, 2), "two")
}

func TestSourceRefusesPlans(t *testing.T) {
	s := newServer()
	plan := s.publish("one", []byte("one"))
	text := string(must(json.Marshal(plan)))
	for name, c := range map[string]struct{ answer, want string }{
		"another name":        {strings.Replace(text, `"asn"`, `"other"`, 1), `a plan of "other"`},
		"no seq":              {strings.Replace(text, `"seq":1`, `"seq":0`, 1), "seq 0"},
		"no description":      {strings.Replace(text, `"stable":"one"`, `"stable":"two"`, 1), "does not describe"},
		"a wrong description": {strings.Replace(text, `"id":"one"`, `"id":"two"`, 1), "does not describe"},
		"a negative size":     {strings.Replace(text, `"size":3`, `"size":-3`, 1), "lacks an id, a size"},
		"half a digest":       {strings.Replace(text, plan.Revisions["one"].SHA256, "abcd", 1), "64 hexadecimal"},
		"half of it":          {text[:len(text)/2], "unexpected end"},
		"no object":           {"[]", "cannot be read"},
		"null":                {"null", "epoch 0"},
		"more than 4 MiB":     {text[:len(text)-1] + `,"x":"` + strings.Repeat("x", 4<<20) + `"}`, "more than 4194304 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			s.on(func(w http.ResponseWriter, _ *http.Request) bool { io.WriteString(w, c.answer); return true })
			if _, _, err := fetched(t, source(t, client(t, s), fleet.SourceOptions{}), ""); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %.300v, want %q", err, c.want)
			}
		})
	}
	s.on(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/plan") {
			return false
		}
		io.WriteString(w, `{"new":{"a":[1]},`+strings.Replace(text, `"format":1`, `"format":2`, 1)[1:])
		return true
	})
	if got, _, err := fetched(t, source(t, client(t, s), fleet.SourceOptions{}), ""); err != nil || got != "one" {
		t.Errorf("a plan of a later format: Fetch returned %q and %v", got, err)
	}
}

func TestSourceChecksKeysAndFloor(t *testing.T) {
	public, private, _ := ed25519.GenerateKey(nil)
	foreign, _, _ := ed25519.GenerateKey(nil)
	s := newServer()
	signed := func(name string) func(r *fleet.Revision) {
		return func(r *fleet.Revision) { r.Signature = ed25519.Sign(private, r.Statement(name)) }
	}
	created := time.Date(2026, 11, 23, 10, 15, 0, 0, time.UTC)
	c := client(t, s)
	for _, k := range []struct {
		name     string
		revision string
		option   func(*fleet.Revision)
		options  fleet.SourceOptions
		want     string
	}{
		{"a signature", "one", signed("asn"), fleet.SourceOptions{Keys: []ed25519.PublicKey{foreign, public}, Floor: created}, ""},
		{"none", "two", func(*fleet.Revision) {}, fleet.SourceOptions{Keys: []ed25519.PublicKey{public}}, "not signed"},
		{"one of another key", "three", signed("asn"), fleet.SourceOptions{Keys: []ed25519.PublicKey{foreign}}, "none of the keys"},
		{"one for another name", "four", signed("deny"), fleet.SourceOptions{Keys: []ed25519.PublicKey{public}}, "none of the keys"},
		{"before the floor", "five", signed("asn"), fleet.SourceOptions{Floor: created.Add(1)}, "before the floor"},
	} {
		t.Run(k.name, func(t *testing.T) {
			s.publish(k.revision, []byte("content"), k.option)
			r := source(t, c, k.options)
			for _, have := range []string{"", k.revision} { // a Cache may have what is refused now
				_, err := r.Fetch(t.Context(), have)
				if k.want == "" && (err == nil || errors.Is(err, reload.ErrNotModified)) {
					continue
				}
				if err == nil || k.want == "" || !strings.Contains(err.Error(), k.want) {
					t.Errorf("Fetch(%q) returned %v, want %q", have, err, k.want)
				}
				r.Observe(reload.Event{Outcome: reload.Failed, Err: &reload.Error{Stage: reload.Fetching, Err: err}})
				waitFor(t, func() bool { return s.reportOf("r1").Failed == k.revision })
			}
			s.set(fleet.KindPause, func(next *fleet.Plan) { next.Paused = true })
			if _, err := r.Fetch(t.Context(), k.revision); err == nil || errors.Is(err, reload.ErrNotModified) != (k.want == "") {
				t.Errorf("in a pause Fetch returned %v, want %q", err, k.want)
			}
			s.set(fleet.KindResume, func(next *fleet.Plan) { next.Paused = false })
			if err := r.Leave(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSourceStaysInAPause(t *testing.T) {
	s := newServer()
	s.publish("one", []byte("one"))
	s.publish("two", []byte("two"))
	s.set(fleet.KindPause, func(next *fleet.Plan) { next.Paused = true })
	r := source(t, client(t, s), fleet.SourceOptions{})
	for _, have := range []string{"one", "one of a Cache that no plan names"} {
		if _, _, err := fetched(t, r, have); !errors.Is(err, reload.ErrNotModified) {
			t.Errorf("Fetch(%q) returned %v, want ErrNotModified", have, err)
		}
	}
	if got, _, err := fetched(t, r, ""); err != nil || got != "two" {
		t.Errorf("a replica without content got %q and %v, want the stable one", got, err)
	}
}

func TestSourceSelection(t *testing.T) {
	s := newServer()
	s.publish("one", []byte("one"))
	s.put("two", []byte("two"))
	s.put("three", []byte("three"))
	s.set(fleet.KindCanary, func(next *fleet.Plan) {
		next.Canary = &fleet.Canary{Revision: "two", Selection: fleet.Selection{Share: 1, Labels: map[string]string{"region": "eu"}}}
	})
	labels := map[string]string{"region": "eu"}
	eu, us := source(t, client(t, s), fleet.SourceOptions{Labels: labels}), source(t, client(t, s), fleet.SourceOptions{})
	labels["region"] = "us"
	check := func(r *fleet.Source, want string) {
		t.Helper()
		if got, _, err := fetched(t, r, ""); err != nil || got != want {
			t.Errorf("the replica got %q and %v, want %q", got, err, want)
		}
	}
	check(eu, "two")
	check(us, "one")
	s.set(fleet.KindPin, func(next *fleet.Plan) { next.Pins = map[string]string{"r1": "three"} })
	check(eu, "three")
}

func TestIdentity(t *testing.T) {
	c := client(t, newServer())
	a, b := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	key := func(keys ...ed25519.PublicKey) string {
		return source(t, c, fleet.SourceOptions{Keys: keys}).Identity()
	}
	seen := map[string]bool{}
	for _, identity := range []string{key(), key(a), key(b), key(a, b), source(t, c, fleet.SourceOptions{Floor: time.Unix(1, 0)}).Identity(), source(t, c, fleet.SourceOptions{Floor: time.Unix(2, 0)}).Identity()} {
		if seen[identity] {
			t.Errorf("two sources have the identity %q", identity)
		}
		seen[identity] = true
	}
	if key(a, b) != key(b, a) {
		t.Error("the order of keys is part of the identity")
	}
	if name := source(t, c, fleet.SourceOptions{}).String(); name != "fleet asn" {
		t.Errorf("the name is %q", name)
	}
}
