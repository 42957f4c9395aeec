package oplog_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
)

// follower is a table that follows a Log by its changes.
type follower struct {
	log     *tableLog
	version uint64
	content *table
	seen    map[uint64]string // the content of each version
}

// begin takes all of the current content.
func (f *follower) begin() error {
	f.content = newTable()
	obj := f.log.Container().Acquire()
	defer f.log.Container().Release(obj)
	f.version = f.log.Container().VersionOf(obj)
	f.seen[f.version] = contentOf(obj)
	return copyTable(f.content, obj)
}

func (f *follower) apply(batch oplog.Batch[operation]) (err error) {
	for _, op := range batch.Ops {
		err = errors.Join(err, applyOperation(f.content, op))
	}
	if batch.Version <= f.version {
		err = fmt.Errorf("version %d comes after %d", batch.Version, f.version)
	}
	f.version = batch.Version
	f.seen[f.version] = contentOf(f.content)
	return err
}

// follow follows until a version.
func (f *follower) follow(ctx context.Context, until uint64) error {
	err := f.begin()
	for f.version < until && err == nil {
		for batch, gone := range f.log.Changes(ctx, f.version) {
			if gone == oplog.ErrGone {
				err = f.begin()
				break
			}
			if err = errors.Join(gone, f.apply(batch)); err != nil || f.version >= until {
				break
			}
		}
	}
	return err
}

// TestFollowersHaveEachVersion has publishers, a Replace now and then, publications past
// the log, and followers that fall behind: each has the content of each version that it
// says it has.
func TestFollowersHaveEachVersion(t *testing.T) {
	log := newLog(t, keep(64))
	const newest = 2000
	var (
		mu      sync.Mutex
		events  = map[uint64]event{1: {content: newPlain()}}
		running sync.WaitGroup
	)
	for seed := range uint64(2) {
		random := rand.New(rand.NewPCG(seed, 1))
		running.Go(func() {
			for log.Container().Version() < newest {
				var e event
				var err error
				switch random.IntN(100) {
				default:
					e.ops = make([]operation, 1+random.IntN(6))
					for i := range e.ops {
						e.ops[i] = operation{kind: kind(random.IntN(4)), key: uint16(random.IntN(32)), value: random.Uint64N(1000)}
					}
					e.version, err = log.Publish(t.Context(), e.ops...)
				case 0:
					e.content = newPlain()
					e.content.values[1] = random.Uint64()
					e.version, err = log.Replace(t.Context(), load(1, e.content.values[1]))
				case 1:
					e.content = newPlain()
					e.content.values[2] = random.Uint64()
					e.version, err = log.Container().Publish(t.Context(), func(next, _ *table) error {
						resetTable(next)
						return load(2, e.content.values[2])(next)
					})
				}
				if err != nil && !errors.Is(err, poolswap.ErrConflict) {
					t.Error(err)
				}
				mu.Lock()
				events[e.version] = e
				mu.Unlock()
			}
		})
	}
	followers := make([]follower, 3)
	for i := range followers {
		f := &followers[i]
		f.log, f.seen = log, map[uint64]string{}
		running.Go(func() {
			if err := f.follow(t.Context(), newest); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	content := newPlain()
	for version := uint64(1); version <= newest; version++ {
		e, known := events[version]
		if !known {
			t.Fatalf("there is no version %d", version)
		}
		if e.content != nil {
			content = e.content
		}
		for _, op := range e.ops {
			content.apply(op)
		}
		want := contentOf(&table{values: content.values, lists: content.lists})
		for _, f := range followers {
			if got, seen := f.seen[version]; seen && got != want {
				t.Fatalf("version %d is %s, and a follower has %s", version, want, got)
			}
		}
	}
}

// errWaits is the error of a loop that waits for a version.
var errWaits = context.DeadlineExceeded

// wantChanges fails the test unless the changes after a version are these, and then the
// loop ends with this error. It is called in a bubble.
func wantChanges(t *testing.T, log *tableLog, after uint64, want string, end error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	var got string
	for batch, err := range log.Changes(ctx, after) {
		if err != nil {
			if !errors.Is(err, end) {
				t.Errorf("after version %d, the error is %v, want %v", after, err, end)
			}
			break
		}
		for _, op := range batch.Ops {
			got += fmt.Sprintf("%d:%d=%d ", batch.Version, op.key, op.value)
		}
	}
	if got != want {
		t.Errorf("after version %d come %q, want %q", after, got, want)
	}
}

func TestChangesThatAreGone(t *testing.T) { synctest.Test(t, testChangesThatAreGone) }

func testChangesThatAreGone(t *testing.T) {
	log := newLog(t, keep(3))
	publish(t, log, set(1, 10))
	publish(t, log, set(2, 20), set(3, 30))
	wantChanges(t, log, 0, "", oplog.ErrGone) // it never was
	wantChanges(t, log, 1, "2:1=10 3:2=20 3:3=30 ", errWaits)
	wantChanges(t, log, 2, "3:2=20 3:3=30 ", errWaits)
	wantChanges(t, log, 3, "", errWaits)
	wantChanges(t, log, 4, "", oplog.ErrGone)
	publish(t, log, set(4, 40))
	wantChanges(t, log, 1, "", oplog.ErrGone) // they are more than 3
	wantChanges(t, log, 2, "3:2=20 3:3=30 4:4=40 ", errWaits)
	if _, err := log.Replace(t.Context(), load(1, 1)); err != nil {
		t.Fatal(err)
	}
	wantChanges(t, log, 4, "", oplog.ErrGone)
	wantChanges(t, log, 5, "", errWaits)
	log.Container().Update(tableWith(1, 2)) // past the log, which does not know yet
	wantChanges(t, log, 5, "", oplog.ErrGone)
	wantChanges(t, log, 6, "", oplog.ErrGone)
	publish(t, log, set(5, 50))
	wantChanges(t, log, 5, "", oplog.ErrGone)
	wantChanges(t, log, 6, "7:5=50 ", errWaits)
	publish(t, log, set(1, 0), set(2, 0), set(3, 0), set(4, 0)) // more than are kept
	wantChanges(t, log, 7, "", oplog.ErrGone)
	wantChanges(t, log, 8, "", errWaits)
	log.Container().Update(nil)
	wantChanges(t, log, 8, "", errWaits) // the next version says that it is gone
	publish(t, log, set(6, 60))
	wantChanges(t, log, 8, "", oplog.ErrGone)
	if err := log.Container().Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantChanges(t, log, 9, "", poolswap.ErrClosed)
	wantChanges(t, log, 8, "", oplog.ErrGone)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range log.Changes(ended, 1) {
		if err != context.Canceled {
			t.Errorf("the error of a context that has ended is %v", err)
		}
	}
}

// TestChangesAreTheCallers writes what a loop yielded.
func TestChangesAreTheCallers(t *testing.T) { synctest.Test(t, testChangesAreTheCallers) }

func testChangesAreTheCallers(t *testing.T) {
	log := newLog(t)
	publish(t, log, set(1, 10), set(2, 20))
	for batch := range log.Changes(t.Context(), 1) {
		clear(batch.Ops)
		_ = append(batch.Ops, set(9, 90))
		break
	}
	publish(t, log, set(3, 30))
	wantChanges(t, log, 1, "2:1=10 2:2=20 3:3=30 ", errWaits)
	wantRight(t, log)
}

// TestWaitersWakeWhileAPublisherWaits has a publisher that waits for readers, with the
// turn: what was published before it comes to those that wait.
func TestWaitersWakeWhileAPublisherWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newLog(t, maxLive(2))
		var mu sync.Mutex
		var got []uint64
		var running sync.WaitGroup
		for range 3 {
			running.Go(func() {
				for batch, err := range log.Changes(t.Context(), 1) {
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					got = append(got, batch.Version)
					mu.Unlock()
					if batch.Version == 3 {
						return
					}
				}
			})
		}
		synctest.Wait()
		held := log.Container().Acquire()
		running.Go(func() {
			publish(t, log, set(1, 10))
			publish(t, log, set(1, 11)) // waits for held
		})
		synctest.Wait()
		mu.Lock()
		if !slices.Equal(got, []uint64{2, 2, 2}) {
			t.Errorf("the versions %v came", got)
		}
		mu.Unlock()
		log.Container().Release(held)
		running.Wait()
		if slices.Sort(got); !slices.Equal(got, []uint64{2, 2, 2, 3, 3, 3}) {
			t.Errorf("the versions %v came", got)
		}
	})
}

// TestChangesOfAVersionThatIsBeingNoted begins in the moment in which the container has a
// version, and the publisher has not come to note it.
func TestChangesOfAVersionThatIsBeingNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begin func()
		log := newLog(t, func(o *tableOptions) { o.Pool.Discard = func(*table) { begin() } })
		var running sync.WaitGroup
		versions := make([]uint64, 2)
		begin = func() {
			begin = func() {}
			current := log.Container().Version()
			for i, after := range []uint64{current - 1, current} {
				running.Go(func() {
					for batch, err := range log.Changes(t.Context(), after) {
						if err != nil {
							t.Errorf("after version %d of %d: %v", after, current, err)
						}
						versions[i] = batch.Version
						return
					}
				})
			}
			synctest.Wait()
		}
		publish(t, log, set(1, 10))
		free := log.Pool().Get()
		publish(t, log, call(func(*table) error { log.Pool().Release(free); return nil })) // then the pool has a spare too many
		publish(t, log, set(2, 20))
		if running.Wait(); !slices.Equal(versions, []uint64{3, 4}) {
			t.Errorf("the versions are %v", versions)
		}
	})
}

func TestChangesMisused(t *testing.T) {
	log := newLog(t)
	for name, fn := range map[string]func(){
		"oplog: Changes with a nil Context":            func() { log.Changes(nil, 1) }, //nolint:staticcheck // that is the test
		"oplog: use of a zero Log (make one with New)": func() { new(tableLog).Changes(t.Context(), 1) },
	} {
		func() {
			defer func() {
				if got := recover(); got != name {
					t.Errorf("the panic is %v, want %q", got, name)
				}
			}()
			fn()
		}()
	}
}
