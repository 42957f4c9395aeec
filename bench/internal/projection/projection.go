// Package projection computes from a measured run what a publication costs fleets
// that no single machine can hold.
package projection

import (
	"fmt"
	"math"

	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/stats"
)

// Cost is what one replica costs a server.
type Cost struct {
	Messages float64
	Bytes    float64 // on the wire, in both directions
	CPU      float64 // seconds of a core
}

// Measured is what a run says of one replica.
type Measured struct {
	Size        float64 // bytes of content
	Publication Cost    // content, plan and report
	Idle        Cost    // in a minute
	Report      float64 // bytes of a report
	Plan        float64 // bytes of a plan without a canary
	PlanID      float64 // bytes that each id of a canary adds to it
}

// Assumed is what the projection takes for granted.
type Assumed struct {
	LineRate float64 // bytes that a server can send in a second
	Cores    float64 // of a server, all of which it can use
	Group    int     // replicas that share a leaf node or a cache
	Canary   float64 // share of the replicas that a canary names
}

// Default is what the printed table assumes: servers with 8 cores and 10 Gbit/s, a
// leaf node or cache for 500 replicas, a canary of 1 %.
var Default = Assumed{LineRate: 10e9 / 8, Cores: 8, Group: 500, Canary: 0.01}

// Row is what a publication to that many replicas costs in one design.
type Row struct {
	Replicas int
	Design   string

	Messages float64 // of the centre, for a publication
	Bytes    float64 // the same
	Edges    int     // leaf nodes or caches
	Edge     float64 // bytes that each of them sends
	Seconds  float64 // until the last replica has the content

	IdleMessages float64 // of the centre in a second, between publications
	IdleCores    float64 // of the centre, for these
	CanaryBytes  float64 // of plans, when a canary begins
}

// Messages of a replica that gets content elsewhere: the plan from the watcher, a
// question for it with its answer, and a report.
const (
	planMessages    = 4
	plansOfAReplica = 2
)

// Project returns a row for each design.
//
// With leaf nodes the centre sends content, plans and reports once to each group,
// where a mirror of the streams serves the replicas; each report goes on to the
// centre. With caches the replicas follow the plan at the centre and get content
// by its digest from the cache of their group, which asks the centre once.
//
// What a centre, a group and a cache do is added up, as if one began when the other
// has ended. Reports count as messages and bytes; where leaf nodes forward them
// they delay no content.
func Project(m Measured, a Assumed, n int) []Row {
	groups := (n + a.Group - 1) / a.Group
	each := float64(min(n, a.Group)) // replicas of a full group
	all, edges := float64(n), float64(groups)
	serve := func(replicas float64, c Cost) float64 {
		return max(replicas*c.Bytes/a.LineRate, replicas*c.CPU/a.Cores)
	}
	handle := m.Idle.CPU / m.Idle.Messages // seconds of a core for a small message
	plan := m.Plan + math.Ceil(a.Canary*all)*m.PlanID
	steer := Cost{planMessages, plansOfAReplica*m.Plan + m.Report, planMessages * handle}
	forward := Cost{1, m.Report, handle} // a report on its way to the centre
	fill := edges * m.Size / a.LineRate
	return []Row{
		{
			Replicas: n, Design: "one server", Messages: all * m.Publication.Messages, Bytes: all * m.Publication.Bytes,
			Seconds: serve(all, m.Publication), IdleMessages: all * m.Idle.Messages / 60, IdleCores: all * m.Idle.CPU / 60, CanaryBytes: plansOfAReplica * all * plan,
		},
		{
			Replicas: n, Design: "leaf nodes", Messages: edges*m.Publication.Messages + all*forward.Messages, Bytes: edges*m.Publication.Bytes + all*forward.Bytes,
			Edges: groups, Edge: each * m.Publication.Bytes, Seconds: serve(edges, m.Publication) + serve(each, m.Publication),
			IdleMessages: (edges*m.Idle.Messages + all) / 60, IdleCores: (edges*m.Idle.CPU + all*forward.CPU) / 60, CanaryBytes: edges * plan,
		},
		{
			Replicas: n, Design: "HTTP caches", Messages: all*steer.Messages + 2*edges, Bytes: all*steer.Bytes + edges*m.Size,
			Edges: groups, Edge: each * m.Size, Seconds: serve(all, steer) + fill + each*m.Size/a.LineRate,
			IdleMessages: all * m.Idle.Messages / 60, IdleCores: all * m.Idle.CPU / 60, CanaryBytes: plansOfAReplica * all * plan,
		},
	}
}

// Of returns what a run says: of the cost of a replica the difference between 256
// replicas and 64, so that what the publication itself costs is not in it.
func Of(run *results.Run) (Measured, error) {
	missing := ""
	median := func(suite, c, unit string) float64 {
		s := stats.Of(run.Find(suite, c, "JetStream").Values[unit])
		if s.N == 0 && missing == "" {
			missing = fmt.Sprintf("suite %s, case %s, %s", suite, c, unit)
		}
		return s.Median
	}
	more := func(unit string) float64 {
		const many, few = 256, 64
		of := func(n int) float64 {
			return median("fleet", fmt.Sprintf("replicas=%d/size=10MiB/object=kept", n), unit)
		}
		return (of(many) - of(few)) / (many - few)
	}
	m := Measured{
		Size:        10 << 20,
		Publication: Cost{more("msgs"), more("wire-bytes"), more("server-cpu-ns") / 1e9},
		Idle:        Cost{median("fleetidle", "idle=64", "msgs"), median("fleetidle", "idle=64", "wire-bytes"), median("fleetidle", "idle=64", "server-cpu-ns") / 1e9},
		Report:      median("fleetidle", "canary=10", "report-bytes"),
	}
	ten, thousand := median("fleetidle", "canary=10", "plan-bytes"), median("fleetidle", "canary=1000", "plan-bytes")
	m.PlanID = (thousand - ten) / 990
	m.Plan = ten - 10*m.PlanID
	if missing != "" {
		return m, fmt.Errorf("a projection needs %s, which was not measured", missing)
	}
	return m, nil
}
