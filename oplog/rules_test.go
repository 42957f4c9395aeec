package oplog_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/oplogtest"
)

// The wrong code of docs/oplog.md runs here, and the right code under the same
// operations.

// keepOperation is an Apply after which the object has the operation's slice.
func keepOperation(g *Groups, op Membership) error {
	if !op.Leave && g.hosts[op.Group] == nil {
		g.hosts[op.Group] = op.Hosts
		return nil
	}
	return g.apply(op)
}

// copyMap is a Copy after which objects share slices.
func copyMap(dst, src *Groups) error {
	clear(dst.hosts)
	maps.Copy(dst.hosts, src.hosts)
	return nil
}

// inMapOrder is an Apply whose result depends on the order of a map.
func inMapOrder(g *Groups, op map[string]bool) error {
	g.hosts["db"] = nil
	for host := range op {
		g.hosts["db"] = append(g.hosts["db"], host)
	}
	return nil
}

// groupsOf returns a Log of Groups with functions that may be wrong.
func groupsOf[Op any](apply func(*Groups, Op) error, copyFrom func(dst, src *Groups) error) *oplog.Log[Groups, *Groups, Op] {
	return must(oplog.New(oplog.Options[Groups, Op]{
		New:   func() *Groups { return &Groups{hosts: map[string][]string{}} },
		Apply: apply,
		Copy:  copyFrom,
		Reset: func(g *Groups) { clear(g.hosts) },
	}))
}

func equalGroups(a, b *Groups) bool { return maps.EqualFunc(a.hosts, b.hosts, slices.Equal) }

func equalSessions(a, b *Sessions) bool { return maps.EqualFunc(a.ends, b.ends, time.Time.Equal) }

func TestVerifyFindsBrokenRules(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	own := func() Membership {
		host := func() string { return fmt.Sprintf("db-%d", random.IntN(4)) }
		return Membership{"db", []string{host(), host()}, random.IntN(2) == 0}
	}
	buffer := make([]string, 2)
	buffered := func() Membership {
		op := own()
		copy(buffer, op.Hosts)
		return Membership{op.Group, buffer, op.Leave}
	}
	many := map[string]bool{}
	for i := range 100 {
		many[fmt.Sprint(i)] = true
	}
	var clock time.Time
	byClock := func(s *Sessions, op Login) error {
		clock = clock.Add(time.Second) // instead of a call of time.Now
		s.ends[op.User] = clock
		return nil
	}
	ann := func() Login { return Login{"ann", clock} }

	sharedSlabs := pricesOptions()
	sharedSlabs.Copy = func(dst, src *PriceTable) error { dst.slabs = slices.Clone(src.slabs); return nil }
	change := func() PriceChange { return PriceChange{random.Int64N(1000), random.IntN(4)} }
	announce := func() Announcement {
		addr := netip.AddrFrom4([4]byte{byte(random.IntN(4)), byte(random.IntN(256))})
		return Announcement{netip.PrefixFrom(addr, random.IntN(17)).Masked(), uint32(random.IntN(4))}
	}

	const unlike = "differs from the current one"
	for _, c := range []struct {
		name string
		run  func() error
		want string
	}{
		{"right: operations and objects with slices of their own", func() error {
			return alike(t.Context(), groupsOf((*Groups).apply, (*Groups).copyFrom), own, equalGroups)
		}, ""},
		{"wrong: the slice of an operation is written to again", func() error {
			return alike(t.Context(), groupsOf((*Groups).apply, (*Groups).copyFrom), buffered, equalGroups)
		}, unlike},
		{"wrong: the object has the operation's slice", func() error {
			return alike(t.Context(), groupsOf(keepOperation, (*Groups).copyFrom), own, equalGroups)
		}, unlike},
		{"wrong: Copy copies the map and not the slices", func() error {
			return alike(t.Context(), groupsOf((*Groups).apply, copyMap), own, equalGroups)
		}, unlike},
		{"wrong: Apply depends on the order of a map", func() error {
			return alike(t.Context(), groupsOf(inMapOrder, (*Groups).copyFrom), func() map[string]bool { return many }, equalGroups)
		}, unlike},
		{"right: the operation carries the time", func() error {
			return alike(t.Context(), newSessions((*Sessions).apply), ann, equalSessions)
		}, ""},
		{"right: Copy copies every slab", func() error {
			return alike(t.Context(), must(oplog.New(pricesOptions())), change, equalPrices)
		}, ""},
		{"wrong: objects share slabs", func() error {
			return alike(t.Context(), must(oplog.New(sharedSlabs)), change, equalPrices)
		}, unlike},
		{"right: Copy copies the nodes", func() error {
			return alike(t.Context(), must(oplog.New(trieOptions())), announce, equalTries)
		}, ""},
		{"wrong: Apply looks at the clock", func() error {
			return alike(t.Context(), newSessions(byClock), ann, equalSessions)
		}, unlike},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.run()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, want %q", err, c.want)
			}
		})
	}
}

// The value of a held version changes if append finds room in it.
func TestAppendToMapValue(t *testing.T) {
	for _, c := range []struct {
		name string
		add  func(groups *oplog.Map[string, []string], host string) error
		want string // for a reader of the version with db-2, once db-3 was published
	}{
		{"right: append to a clipped slice", func(groups *oplog.Map[string, []string], host string) error {
			return addHost(t.Context(), groups, "db", host)
		}, "[db-1 db-2]"},
		{"wrong: append to the value", func(groups *oplog.Map[string, []string], host string) error {
			hosts, _ := groups.Get("db")
			_, err := groups.Set(t.Context(), "db", append(hosts, host))
			return err
		}, "[db-1 db-3]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			groups := must(oplog.NewMap(oplog.MapOptions[string, []string]{}))
			first := append(make([]string, 0, 4), "db-1")
			set := func(hosts []string) {
				if _, err := groups.Set(t.Context(), "db", hosts); err != nil {
					t.Fatal(err)
				}
			}
			add := func(host string) {
				if err := c.add(groups, host); err != nil {
					t.Fatal(err)
				}
			}
			set(first)
			add("db-2")
			view := groups.Container().Acquire()
			defer groups.Container().Release(view)
			set(first) // db-2 leaves
			add("db-3")
			if hosts, _ := view.Get("db"); fmt.Sprint(hosts) != c.want {
				t.Errorf("the reader sees %v, want %s", hosts, c.want)
			}
		})
	}
}

// saveApart is the wrong way to save: the offset is not that of the content.
func saveApart(f *Follower, between func()) (s Snapshot) {
	s.Offset = f.offset()
	between()
	s.Balance = f.save().Balance
	return s
}

func TestContentAndOffsetAreSavedTogether(t *testing.T) {
	source := stream{{1, "ann", 100}, {2, "ann", 10}, {3, "ann", 1}}
	for _, c := range []struct {
		name string
		save func(f *Follower, more func()) Snapshot
		want int
	}{
		{"right: of one version", func(f *Follower, more func()) Snapshot { defer more(); return f.save() }, 111},
		{"wrong: one after the other", saveApart, 121},
	} {
		t.Run(c.name, func(t *testing.T) {
			followed := func(f *Follower, until int) *Follower {
				if err := f.follow(t.Context(), source[:until].read); err != errDisconnected {
					t.Fatal(err)
				}
				return f
			}
			f := followed(must(NewFollower()), 1)
			saved := c.save(f, func() { followed(f, 2) })
			restarted := must(NewFollower())
			if err := restarted.load(t.Context(), saved); err != nil {
				t.Fatal(err)
			}
			if got := followed(restarted, 3).save().Balance["ann"]; got != c.want {
				t.Errorf("after the restart the balance is %d, want %d", got, c.want)
			}
		})
	}
}

// Two objects with one map are always alike, so Verify empties one of them.
func TestVerifyFindsSharedObjects(t *testing.T) {
	t.Parallel()
	log := groupsOf((*Groups).apply, func(dst, src *Groups) error { dst.hosts = src.hosts; return nil })
	must(log.Publish(t.Context(), Membership{Group: "db", Hosts: []string{"a"}}))
	err := oplogtest.Verify(log, equalGroups)
	if err == nil || !strings.Contains(err.Error(), "share content") {
		t.Errorf("Verify returned %v", err)
	}
}
