package verify_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// TestConcurrentHistoriesAreLinearizable checks that Acquire and Update are
// linearizable, and that a held object does not change and does not go to a
// writer.
func TestConcurrentHistoriesAreLinearizable(t *testing.T) {
	forEachMode(t, func(t *testing.T, portable bool) {
		begun := time.Now()
		var all legal
		for _, procs := range everyProcs {
			t.Run(fmt.Sprintf("GOMAXPROCS is %d", procs), func(t *testing.T) {
				withProcs(t, procs)
				widen(t)
				all.add(recordAndJudge(t, portable))
			})
		}
		t.Logf("%v, in %v", &all, time.Since(begun).Round(time.Second))
	})
}

// everyProcs are the values of GOMAXPROCS under which histories are recorded.
var everyProcs = []int{1, 2, 8}

// legal counts the recorded histories that were legal.
type legal struct {
	histories, steps               int
	updates, retries, lateReleases uint64
}

func (l *legal) add(more legal) {
	l.histories += more.histories
	l.steps += more.steps
	l.updates += more.updates
	l.retries += more.retries
	l.lateReleases += more.lateReleases
}

func (l *legal) String() string {
	return fmt.Sprintf("%d histories, %d steps on average; %d updates, %d failed validations, %d late releases",
		l.histories, l.steps/max(l.histories, 1), l.updates, l.retries, l.lateReleases)
}

// recordAndJudge records histories and fails the test if one is illegal. Every
// second history has two containers.
func recordAndJudge(t *testing.T, portable bool) (all legal) {
	const clients, size = 5, 48 // about 200 steps
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	recorders := []*recorder{newRecorder(portable, 1), newRecorder(portable, 2)}
	for i := range rounds(histories(t, 150, 500)) {
		recorder := recorders[i%2]
		history := recorder.run(t, randomScripts(random, clients, size))
		judge(t, history)
		recorder.quiescent(t)
		if t.Failed() {
			t.Fatalf("the scripts were those of seed %d", seed)
		}
		all.histories++
		all.steps += len(history)
	}
	for _, recorder := range recorders {
		stats := recorder.pool.Stats()
		all.updates += stats.Updates
		all.retries += stats.Reads.Retries
		all.lateReleases += stats.Reads.LateReleases
	}
	t.Log(&all)
	return all
}

// histories is the least number of histories for one counting mode and one
// GOMAXPROCS: usually many, or few in the widened build. POOLSWAP_HISTORIES is the
// number for one counting mode.
func histories(t *testing.T, few, many int) int {
	text := os.Getenv("POOLSWAP_HISTORIES")
	if text == "" {
		return widenedOr(few, many)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("POOLSWAP_HISTORIES: %v", err)
	}
	return (n + len(everyProcs) - 1) / len(everyProcs)
}

// judge fails the test unless both models allow the history, and writes a picture
// of an illegal one.
func judge(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	history = dense(history)
	for _, m := range []struct {
		name  string
		model porcupine.Model
	}{{"register", registerModel}, {"pool", poolModel}} {
		if porcupine.CheckOperations(m.model, history) {
			continue
		}
		path, err := picture(m.name, m.model, history)
		t.Errorf("no sequential %s has this history; see %s (%v)", m.name, path, err)
	}
}

// picture writes a page that shows a history into a new temporary directory.
func picture(name string, model porcupine.Model, history []porcupine.Operation) (path string, err error) {
	dir, err := os.MkdirTemp("", "poolswap-"+name+"-")
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "history.html")
	_, info := porcupine.CheckOperationsVerbose(model, history, 0)
	return path, porcupine.VisualizePath(model, info, path)
}

// TestTheModelsRejectBadHistories tests the models.
func TestTheModelsRejectBadHistories(t *testing.T) {
	get, update := step{kind: kindGet, record: 1}, step{kindUpdate, 1, 1, 0}
	acquire, look, release := step{kindAcquire, 1, 1, 0}, step{kindLook, 1, 1, 0}, step{kind: kindRelease, record: 1}
	empty, nothing := step{kind: kindUpdate}, step{kind: kindAcquire}
	for _, bad := range []struct {
		name           string
		steps          []step
		register, pool bool // whether this model allows it
	}{
		{"a good one", []step{nothing, get, update, acquire, look, empty, look, release, get}, true, true},
		{"a good one, with two containers", []step{get, update, {kind: kindAcquire, container: 1}, {kind: kindUpdate, container: 1}, acquire, release}, true, true},
		{"Acquire returns a record that was replaced", []step{get, update, empty, acquire}, false, false},
		{"Acquire returns the current object of another container", []step{get, update, {kindAcquire, 1, 1, 1}}, false, false},
		{"Acquire returns nothing after an Update", []step{get, update, nothing}, false, false},
		{"Acquire returns another version", []step{get, update, {kindAcquire, 1, 2, 0}}, false, false},
		{"Acquire returns another record", []step{get, update, {kindAcquire, 2, 1, 0}}, false, false},
		{"a record changes while it is held", []step{get, update, acquire, {kindLook, 1, 1 << 63, 0}, release}, true, false},
		{"a record is given to a writer while it is held", []step{get, update, acquire, empty, get}, true, false},
		{"a record is given to a writer while it is current", []step{get, update, get}, true, false},
		{"a record is given to two writers", []step{get, get}, true, false},
		{"a record is published without a Get", []step{update}, true, false},
		{"a record is looked at after its release", []step{get, update, acquire, release, look}, true, false},
	} {
		t.Run(bad.name, func(t *testing.T) {
			var history []porcupine.Operation
			for i, s := range bad.steps {
				history = append(history, porcupine.Operation{Input: s, Call: int64(2 * i), Return: int64(2*i + 1)})
			}
			if got := porcupine.CheckOperations(registerModel, history); got != bad.register {
				t.Errorf("the register allows this history: %t", got)
			}
			if got := porcupine.CheckOperations(poolModel, history); got != bad.pool {
				t.Errorf("the pool allows this history: %t", got)
			}
		})
	}
}
