package verify

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
)

// TestPythonReplica runs a replica in another language beside one in Go.
func TestPythonReplica(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	n := newNode(t)
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	file := filepath.Join(t.TempDir(), "content")
	command := exec.Command(python, "testdata/replica.py", n.url(), n.token(), "table", "in Python/1", file, "region=eu")
	output := new(strings.Builder)
	command.Stderr = output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		command.Process.Kill()
		command.Wait()
		if t.Failed() {
			t.Log(output)
		}
	}()
	r := start(t, n.client(), fleet.SourceOptions{ID: "in Go"})
	check := func(plan *fleet.Plan, python, inGo string) {
		t.Helper()
		m.await(t, plan)
		if text, err := os.ReadFile(file); err != nil || string(text) != python || r.text() != inGo {
			t.Errorf("after %s the replicas have %q (%v) and %q, want %q and %q", plan.Change.Kind, text, err, r.text(), python, inGo)
		}
	}
	_, plan := m.publish(t, "one")
	both := func() *fleet.Status { return must(m.Status(t.Context()))(t) }
	eventually(t, "both report", func() bool { return len(both().Replicas) == 2 })
	check(plan, "one", "one")
	two := must(m.Store(t.Context(), strings.NewReader("two")))(t)
	check(must(m.Canary(t.Context(), two.ID, fleet.Selection{Share: 1, Labels: map[string]string{"region": "eu"}}, ""))(t), "two", "one")
	check(must(m.Promote(t.Context(), ""))(t), "two", "two")
	n.kill()
	n.start()
	eventually(t, "both report again", func() bool { return len(both().Replicas) == 2 })
	for i := range 6 { // selected by rank
		three := must(m.Store(t.Context(), strings.NewReader("three")))(t)
		plan := must(m.Canary(t.Context(), three.ID, fleet.Selection{Share: 0.5}, ""))(t)
		text := map[bool]string{true: "three", false: "two"}
		check(plan, text[plan.Wanted("in Python/1", nil).ID == three.ID], text[plan.Wanted("in Go", nil).ID == three.ID])
		if i == 5 {
			check(must(m.Pin(t.Context(), "in Python/1", three.ID, ""))(t), "three", text[plan.Wanted("in Go", nil).ID == three.ID])
		}
	}
}
