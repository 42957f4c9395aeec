package projection_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/projection"
	"github.com/poolswap/poolswap/bench/internal/results"
)

var (
	projectionMeasured = projection.Measured{
		Size: 1000, Publication: projection.Cost{Messages: 20, Bytes: 1100, CPU: 0.004},
		Idle: projection.Cost{Messages: 12, Bytes: 600, CPU: 0.6}, Report: 50, Plan: 100, PlanID: 10,
	}
	projectionAssumed = projection.Assumed{LineRate: 10_000, Cores: 2, Group: 4, Canary: 0.2}
)

func TestEachDesignCostsWhatItsPartsCost(t *testing.T) {
	want := []projection.Row{
		// 10 replicas, each with 20 messages and 1100 bytes, which take longer on the
		// line (1.1 s) than 0.04 s of processor time on 2 cores.
		{Replicas: 10, Design: "one server", Messages: 200, Bytes: 11_000, Seconds: 1.1, IdleMessages: 2, IdleCores: 0.1, CanaryBytes: 2 * 10 * 120},
		// Three leaf nodes, and 10 reports; 3 x 1100 bytes and then 4 x 1100.
		{Replicas: 10, Design: "leaf nodes", Messages: 70, Bytes: 3*1100 + 500, Edges: 3, Edge: 4400, Seconds: 0.77, IdleMessages: 46.0 / 60, IdleCores: (3*0.6 + 10*0.05) / 60, CanaryBytes: 3 * 120},
		// Two plans and a report for each replica, which take four messages of 0.05 s on
		// 2 cores, longer than on the line; then the content for three caches, and from
		// each for 4 replicas.
		{Replicas: 10, Design: "HTTP caches", Messages: 46, Bytes: 2500 + 3000, Edges: 3, Edge: 4000, Seconds: 1 + 0.3 + 0.4, IdleMessages: 2, IdleCores: 0.1, CanaryBytes: 2 * 10 * 120},
	}
	got := projection.Project(projectionMeasured, projectionAssumed, 10)
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		for _, seconds := range []*float64{&got[i].Seconds, &want[i].Seconds, &got[i].IdleMessages, &want[i].IdleMessages, &got[i].IdleCores, &want[i].IdleCores} {
			*seconds = math.Round(*seconds*1e9) / 1e9
		}
		if got[i] != want[i] {
			t.Errorf("got  %+v\nwant %+v", got[i], want[i])
		}
	}
}

func TestASlowServerIsBoundByItsCores(t *testing.T) {
	m := projectionMeasured
	m.Publication.CPU = 0.5
	if got := projection.Project(m, projectionAssumed, 10)[0].Seconds; got != 2.5 {
		t.Errorf("%v s, want 10 x 0.5 s on 2 cores", got)
	}
}

// projectionRun has 100 messages, 10 MB and 2 ms of the server for a publication,
// and 104 messages, 11 MB and 16 ms for each replica.
func projectionRun() *results.Run {
	run := new(results.Run)
	for _, n := range []float64{64, 256} {
		run.Get("fleet", fmt.Sprintf("replicas=%.0f/size=10MiB/object=kept", n), "JetStream").Add(1, map[string]float64{
			"msgs": 100 + 104*n, "wire-bytes": 10e6 + 11e6*n, "server-cpu-ns": 2e6 + 16e6*n,
		})
	}
	run.Get("fleetidle", "idle=64", "JetStream").Add(1, map[string]float64{"msgs": 15, "wire-bytes": 3000, "server-cpu-ns": 1e6})
	run.Get("fleetidle", "canary=10", "JetStream").Add(1, map[string]float64{"plan-bytes": 1000, "report-bytes": 200})
	run.Get("fleetidle", "canary=1000", "JetStream").Add(1, map[string]float64{"plan-bytes": 50_500})
	return run
}

func TestWhatAPublicationItselfCostsIsNotCountedForReplicas(t *testing.T) {
	got, err := projection.Of(projectionRun())
	if err != nil {
		t.Fatal(err)
	}
	want := projection.Measured{
		Size: 10 << 20, Publication: projection.Cost{Messages: 104, Bytes: 11e6, CPU: 0.016},
		Idle: projection.Cost{Messages: 15, Bytes: 3000, CPU: 0.001}, Report: 200, Plan: 500, PlanID: 50,
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestTableHasARowForEachNumberAndDesign(t *testing.T) {
	text, err := projection.Table(projectionRun())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"| 10 | one server | 1,040 | 105 MiB |  |  | 0.09 |",
		"| 1,000 | leaf nodes | 1,208 | 21.2 MiB | 2 | 5.12 GiB |",
		"| 100,000 | HTTP caches | 400,400 |",
	} {
		if !strings.Contains(text, row) {
			t.Errorf("no row %q in\n%s", row, text)
		}
	}
	if rows := strings.Count(text, "\n| 1"); rows != 9 {
		t.Errorf("%d rows, want 9", rows)
	}
}

func TestARunWithoutAFigureIsRefused(t *testing.T) {
	run := projectionRun()
	delete(run.Get("fleetidle", "idle=64", "JetStream").Values, "msgs")
	if _, err := projection.Table(run); err == nil || !strings.Contains(err.Error(), "suite fleetidle, case idle=64, msgs") {
		t.Errorf("error %v does not say what is missing", err)
	}
}
