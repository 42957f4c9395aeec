package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// A copy of the directory, made while the node works, is like the disk of a node that
// was killed: all that was acknowledged before is there, and content is whole.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Options{Dir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	acknowledged := map[string]*fleet.Plan{} // by name, the latest
	var all sync.WaitGroup
	for worker := range 3 {
		all.Go(func() {
			name := fmt.Sprint("n", worker)
			for i := 0; ctx.Err() == nil; i++ {
				id := fmt.Sprint("r", i)
				text := strings.Repeat(id, 40_000)
				if _, err := s.Put(ctx, name, fleet.Revision{ID: id, Created: time.Now()}, -1, strings.NewReader(text)); err != nil {
					if ctx.Err() == nil {
						t.Error(err)
					}
					return
				}
				plan, err := tryPublish(ctx, s, name, "", id)
				if err != nil {
					if ctx.Err() == nil {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				acknowledged[name] = plan
				mu.Unlock()
			}
		})
	}
	type image struct {
		dir  string
		want map[string]*fleet.Plan
	}
	var images []image
	for i := range 3 {
		eventually(t, "there are more plans", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(acknowledged) == 3 && acknowledged["n0"].Seq > uint64(5*i)
		})
		one := image{t.TempDir(), map[string]*fleet.Plan{}}
		mu.Lock()
		for name, plan := range acknowledged {
			one.want[name] = plan
		}
		mu.Unlock()
		// As on a disk, nothing is there without that which was synced before it.
		for _, part := range []string{"jetstream/$G/streams/state", "jetstream", "."} {
			copyDir(t, filepath.Join(one.dir, part), filepath.Join(dir, part))
		}
		images = append(images, one)
	}
	cancel()
	all.Wait()
	s.Close()
	for _, one := range images {
		s := open(t, store.Options{Dir: one.dir})
		for name, want := range one.want {
			plan, err := s.Plan(name)
			if err != nil || want.After(plan.Epoch, plan.Seq) {
				t.Errorf("plan %s of %s was acknowledged, and there is %v, %v", want.Version(), name, plan, err)
				continue
			}
			checked, damaged, err := s.Verify(t.Context(), name)
			if err != nil || checked < int(want.Seq) || len(damaged) > 0 {
				t.Errorf("%s: Verify checked %d of %d and found %q, %v", name, checked, want.Seq, damaged, err)
			}
			if history, err := s.History(t.Context(), name, "", 10_000); err != nil || len(history) < int(want.Seq) {
				t.Errorf("%s: %d of %d changes are in the history, %v", name, len(history), want.Seq, err)
			}
			publish(t, s, name, "after", "after")
		}
		s.Close()
	}
}

func TestOneProcessUsesADirectory(t *testing.T) {
	o := store.Options{Dir: t.TempDir()}
	s := open(t, o)
	if _, err := store.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another server uses the directory") {
		t.Errorf("Open of a directory in use: %v", err)
	}
	s.Close()
	s.Close()
	for _, err := range []error{s.Ready(), s.Report(t.Context(), "asn", fleet.Report{ID: "a"}), s.PutToken(t.Context(), store.Secret{Token: fleet.Token{ID: "t"}})} {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a closed store: %v", err)
		}
	}
	if err := os.WriteFile(filepath.Join(o.Dir, "node.json"), []byte(`{"node":"n1","size":3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), `the directory is of node "n1" of 3`) {
		t.Errorf("Open of the directory of a cluster: %v", err)
	}
}
