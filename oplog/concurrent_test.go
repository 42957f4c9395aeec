package oplog_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap/oplog/oplogtest"
)

// event is a publication: of operations on the content before, or of a content of
// its own. An event that emptied has the version that was current before it.
type event struct {
	version uint64
	ops     []operation
	content *plain
	emptied bool
}

// crew is a Log with the notes of its publishers and readers.
type crew struct {
	t       *testing.T
	log     *tableLog
	fuse    atomic.Int64 // calls of Apply until one fails
	working atomic.Int64 // publishers that have not ended

	mu     sync.Mutex
	events []event
	read   map[uint64]uint64 // the hash of each version that a reader saw
}

// apply is Apply, which fails now and then, and leaves obj half changed.
func (c *crew) apply(obj *table, op operation) error {
	if c.fuse.Add(-1) == 0 {
		spoil(obj)
		return failures[op.value%uint64(len(failures))].fail()
	}
	return applyOperation(obj, op)
}

func (c *crew) note(e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, e)
}

// publisher publishes at random until about so many operations are published.
func (c *crew) publisher(seed uint64, operations int) {
	defer c.working.Add(-1)
	random := rand.New(rand.NewPCG(seed, 4))
	for number := uint64(0); operations > 0; {
		ops := make([]operation, random.IntN(31))
		for i := range ops {
			number++
			ops[i] = operation{kind: kind(random.IntN(4)), key: uint16(random.IntN(32)), value: number<<8 + seed}
		}
		ctx := context.Background()
		if random.IntN(4) == 0 {
			ctx = endsInsteadOfWaiting(c.t)
		}
		if random.IntN(20) == 0 {
			c.fuse.Store(int64(random.IntN(60)))
		}
		switch random.IntN(40) {
		default:
			a := try(func() (uint64, error) { return c.log.Publish(ctx, ops...) })
			if a.version != 0 {
				c.note(event{version: a.version, ops: ops})
				operations -= len(ops)
			}
			c.wantKnown(a)
			c.look()
		case 0:
			c.replace(ctx, ops, random.IntN(2) == 0)
		case 1:
			c.foreign(ctx, ops)
		case 2:
			c.update(ctx, ops, random.IntN(3) == 0)
		}
	}
}

// look reads the current object, once.
func (c *crew) look() {
	c.log.Container().WithAcquire(func(obj *table) {
		if obj != nil {
			c.saw(map[uint64]uint64{c.log.Container().VersionOf(obj): obj.hash()})
		}
	})
}

// saw notes the hashes of versions that a goroutine read.
func (c *crew) saw(seen map[uint64]uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for version, hash := range seen {
		if before, known := c.read[version]; known && before != hash {
			c.t.Errorf("two readers of version %d read different content", version)
		}
		c.read[version] = hash
	}
}

// wantKnown fails the test unless a call ended in a way that it can.
func (c *crew) wantKnown(a attempt) {
	switch {
	case a.panicked != nil && a.panicked != errBad:
		c.t.Errorf("the panic is %v", a.panicked)
	case a.err != nil && !errors.Is(a.err, errBad) && !errors.Is(a.err, context.Canceled):
		c.t.Errorf("the error is %v", a.err)
	}
}

func (c *crew) replace(ctx context.Context, ops []operation, fails bool) {
	content := newPlain()
	content.apply(ops...)
	a := try(func() (uint64, error) {
		return c.log.Replace(ctx, func(next *table) error {
			content.fill(next)
			if fails {
				spoil(next)
				return errBad
			}
			return nil
		})
	})
	if a.version != 0 {
		c.note(event{version: a.version, content: content})
	}
	c.wantKnown(a)
}

// foreign publishes ops with the container's Publish.
func (c *crew) foreign(ctx context.Context, ops []operation) {
	a := try(func() (uint64, error) {
		return c.log.Container().Publish(ctx, func(next, current *table) error {
			resetTable(next)
			if current != nil {
				copyTable(next, current)
			}
			for _, op := range ops {
				applyOperation(next, op)
			}
			return nil
		})
	})
	if a.version != 0 {
		c.note(event{version: a.version, ops: ops})
	}
	c.wantKnown(a)
}

// update makes something else current, or nothing, with Update. It does so
// inside a fill, which has the turn: so it is known which version it has.
func (c *crew) update(ctx context.Context, ops []operation, empties bool) {
	content := newPlain()
	content.apply(ops...)
	a := try(func() (uint64, error) {
		return c.log.Container().Publish(ctx, func(_, current *table) error {
			if empties {
				before := c.log.Container().VersionOf(current)
				c.log.Container().Update(nil)
				c.note(event{version: before, emptied: true})
				return errBad
			}
			obj := newTable()
			content.fill(obj)
			c.log.Container().Update(obj)
			c.note(event{version: c.log.Container().Version(), content: content})
			return errBad
		})
	})
	c.wantKnown(a)
}

// reader holds up to so many versions, each for a while, until all publishers
// have ended. It notes the content, at first and before it gives the object back.
func (c *crew) reader(seed uint64, most int) {
	random := rand.New(rand.NewPCG(seed, 5))
	seen := map[uint64]uint64{}
	see := func(obj *table) {
		version, hash := c.log.Container().VersionOf(obj), obj.hash()
		if before, known := seen[version]; known && before != hash {
			c.t.Errorf("version %d has changed while it was held: %s", version, contentOf(obj))
		}
		seen[version] = hash
	}
	var held []*table
	for c.working.Load() > 0 || len(held) > 0 {
		if c.working.Load() > 0 && len(held) < most && random.IntN(2) == 0 {
			if obj := c.log.Container().Acquire(); obj != nil {
				see(obj)
				held = append(held, obj)
			}
		} else if len(held) > 0 {
			i := random.IntN(len(held))
			see(held[i])
			c.log.Container().Release(held[i])
			held = slices.Delete(held, i, i+1)
		}
		runtime.Gosched()
	}
	c.saw(seen)
}

// compare replays the events in the order of their versions, and compares the
// content with that of the readers.
func (c *crew) compare() {
	slices.SortStableFunc(c.events, func(a, b event) int {
		if a.version == b.version && a.emptied != b.emptied {
			if a.emptied {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.version, b.version)
	})
	content, last := newPlain(), uint64(0)
	for _, e := range c.events {
		if e.emptied {
			content = newPlain()
			continue
		}
		if e.version == last {
			c.t.Fatalf("two publications have version %d", last)
		}
		last = e.version
		if e.content != nil {
			content = e.content.clone()
		}
		content.apply(e.ops...)
		if hash, known := c.read[e.version]; known && hash != content.hash() {
			c.t.Fatalf("readers of version %d read something else than was published", e.version)
		}
		delete(c.read, e.version)
	}
	for version := range c.read {
		c.t.Fatalf("a reader saw version %d, which was not published", version)
	}
	if got := c.log.Container().Version(); got != last && got != 0 {
		c.t.Fatalf("version %d is current, and %d was published last", got, last)
	}
}

// TestReadersSeePublishedContent runs two publishers and two readers at a time, and
// compares the content with the oracle, replayed in the order of the versions.
func TestReadersSeePublishedContent(t *testing.T) {
	keeps, limits := []int{1, 8, 64, 1 << 16}, []int{0, 3}
	want := scaled(200_000) / (len(keeps) * len(limits))
	atLeast := stress(t) / time.Duration(len(keeps)*len(limits))
	catchUps, copies := uint64(0), uint64(0)
	for _, kept := range keeps {
		for _, limit := range limits {
			t.Run(fmt.Sprintf("Keep %d, MaxLive %d", kept, limit), func(t *testing.T) {
				begin, versions := time.Now(), 0
				for seed := uint64(0); (versions == 0 || time.Since(begin) < atLeast) && !t.Failed(); seed += 2 {
					c := &crew{t: t, read: map[uint64]uint64{}}
					c.log = newLog(t, keep(kept), maxLive(limit), func(options *tableOptions) { options.Apply = c.apply })
					c.events = []event{{version: c.log.Container().Version(), content: newPlain()}}
					c.working.Store(2)
					var wg sync.WaitGroup
					for i := range uint64(2) {
						wg.Go(func() { c.publisher(seed+i, want/2) })
						wg.Go(func() { c.reader(seed+i, 2+3*int(i)) })
					}
					wg.Wait()
					c.fuse.Store(0)
					versions += len(c.read)
					c.compare()
					if err := oplogtest.Verify(c.log, equalTables); err != nil {
						t.Error(err)
					}
					stats := c.log.Stats()
					catchUps, copies = catchUps+stats.CatchUps, copies+stats.Copies
				}
				if versions < 10 {
					t.Errorf("%d versions were read", versions)
				}
			})
		}
	}
	if catchUps < 10 || copies < 10 {
		t.Errorf("objects were brought up %d times by operations and %d times by Copy", catchUps, copies)
	}
}
