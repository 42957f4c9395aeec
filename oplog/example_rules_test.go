package oplog_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/oplogtest"
)

// The examples in this file, example_map_test.go and example_stream_test.go are
// the code of docs/oplog.md, and a test compares them with the page.
// rules_test.go runs the wrong code of the page.

type Groups struct {
	poolswap.Ref
	hosts map[string][]string
}

type Membership struct { // an operation
	Group string
	Hosts []string
	Leave bool // else they join
}

type GroupLog = oplog.Log[Groups, *Groups, Membership]

func newGroups() (*GroupLog, error) {
	return oplog.New(oplog.Options[Groups, Membership]{
		New:   func() *Groups { return &Groups{hosts: map[string][]string{}} },
		Apply: (*Groups).apply,
		Copy:  (*Groups).copyFrom,
		Reset: func(g *Groups) { clear(g.hosts) },
	})
}

func (g *Groups) apply(op Membership) error {
	if op.Leave {
		g.hosts[op.Group] = slices.DeleteFunc(g.hosts[op.Group], func(host string) bool {
			return slices.Contains(op.Hosts, host)
		})
		return nil
	}
	g.hosts[op.Group] = append(g.hosts[op.Group], op.Hosts...) // g.hosts has arrays of its own
	return nil
}

func (g *Groups) copyFrom(src *Groups) error {
	clear(g.hosts)
	for group, hosts := range src.hosts {
		g.hosts[group] = slices.Clone(hosts)
	}
	return nil
}

func join(ctx context.Context, groups *GroupLog, group string, hosts ...string) error {
	_, err := groups.Publish(ctx, Membership{Group: group, Hosts: slices.Clone(hosts)})
	return err
}

// Operations keep nothing that their source uses again, and objects share
// nothing that Apply changes.
func Example_rules() {
	ctx := context.Background()
	groups, err := newGroups()
	if err != nil {
		fmt.Println(err)
		return
	}
	hosts := []string{"db-1"}
	fmt.Println(join(ctx, groups, "db", hosts...))
	hosts[0] = "db-2"
	fmt.Println(join(ctx, groups, "db", hosts...))
	_, _ = groups.Publish(ctx, Membership{Group: "db", Hosts: []string{"db-1"}, Leave: true})
	groups.Container().WithAcquire(func(g *Groups) { fmt.Println(g.hosts) })
	// Output:
	// <nil>
	// <nil>
	// map[db:[db-2]]
}

func addHost(ctx context.Context, groups *oplog.Map[string, []string], group, host string) error {
	_, err := groups.PublishFunc(ctx, func(now *oplog.View[string, []string]) ([]oplog.Change[string, []string], error) {
		hosts, _ := now.Get(group)
		hosts = append(slices.Clip(hosts), host) // in a new array
		return []oplog.Change[string, []string]{{Key: group, Value: hosts}}, nil
	})
	return err
}

// A value that is a slice is not changed, but replaced by a changed copy.
func Example_mapOfSlices() {
	ctx := context.Background()
	groups := must(oplog.NewMap(oplog.MapOptions[string, []string]{}))
	fmt.Println(addHost(ctx, groups, "db", "db-1"), addHost(ctx, groups, "db", "db-2"))
	fmt.Println(groups.Get("db"))
	// Output:
	// <nil> <nil>
	// [db-1 db-2] true
}

// Sessions end at a time.
type Sessions struct {
	poolswap.Ref
	ends map[string]time.Time
}

// Login is an operation on Sessions.
type Login struct {
	User string
	Ends time.Time
}

func (s *Sessions) apply(op Login) error {
	s.ends[op.User] = op.Ends
	return nil
}

func newSessions(apply func(*Sessions, Login) error) *oplog.Log[Sessions, *Sessions, Login] {
	return must(oplog.New(oplog.Options[Sessions, Login]{
		New:   func() *Sessions { return &Sessions{ends: map[string]time.Time{}} },
		Apply: apply,
		Copy: func(dst, src *Sessions) error {
			clear(dst.ends)
			maps.Copy(dst.ends, src.ends)
			return nil
		},
		Reset: func(s *Sessions) { clear(s.ends) },
	}))
}

func login(ctx context.Context, sessions *oplog.Log[Sessions, *Sessions, Login], user string, now time.Time) error {
	_, err := sessions.Publish(ctx, Login{user, now.Add(time.Hour)})
	return err
}

// The caller looks at the clock, and the operation carries the time.
func Example_time() {
	ctx := context.Background()
	sessions := newSessions((*Sessions).apply)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	fmt.Println(login(ctx, sessions, "ann", now))
	sessions.Container().WithAcquire(func(s *Sessions) { fmt.Println(s.ends["ann"].Format(time.TimeOnly)) })
	// Output:
	// <nil>
	// 04:04:05
}

// alike returns an error if the objects of log differ after operations.
func alike[T any, P poolswap.Object[T], Op any](ctx context.Context, log *oplog.Log[T, P, Op], operation func() Op, equal func(a, b *T) bool) error {
	for range 100 {
		old := log.Container().Acquire() // a slow reader, so that a third object is needed
		for range 3 {
			if _, err := log.Publish(ctx, operation()); err != nil {
				return err
			}
		}
		log.Container().Release(old)
		if err := oplogtest.Verify(log, equal); err != nil {
			return err
		}
	}
	return nil
}

// A test of Apply and Copy.
func Example_verify() {
	random := rand.New(rand.NewPCG(1, 2))
	fmt.Println(alike(context.Background(), must(newGroups()), func() Membership {
		host := fmt.Sprintf("host-%d", random.IntN(10))
		return Membership{Group: "db", Hosts: []string{host}, Leave: random.IntN(2) == 0}
	}, func(a, b *Groups) bool {
		return slices.Equal(a.hosts["db"], b.hosts["db"])
	}))
	// Output: <nil>
}
