package prometheus_test

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/poolswap/poolswap"
	poolmetrics "github.com/poolswap/poolswap/metrics/prometheus"
	"github.com/poolswap/poolswap/reload"
)

// collectors returns collectors of fixed figures, each another number.
func collectors() []prometheus.Collector {
	stats := poolswap.Stats{
		Created: 1, Adopted: 2, Discarded: 3, Lost: 4, Collected: 5, Leaked: 6, Updates: 7, FailedPublishes: 8,
		Held: 10, OldestRetired: 11 * time.Second, Live: 100, Current: 12, Retired: 13, PendingReset: 14, Resetting: 15, Spares: 16, SpareLimit: 28,
	}
	stats.Reads.Retries = 9
	status := reload.Status{
		Source: "https://example.org/data", Revision: `etag "5"`, SHA256: "29", ServedBy: "mirror", Version: 17, Attempts: 18, TotalFailures: 27, Swaps: 19, Failures: 20, Refused: "6",
		Stale: errors.New("down"), Loaded: time.Unix(21, 0), Modified: time.Unix(22, 0), Checked: time.Unix(23, 5e8), Size: 24,
		Fetch: 25 * time.Second, Load: 26 * time.Second,
	}
	return []prometheus.Collector{
		poolmetrics.Pool("tables", func() poolswap.Stats { return stats }),
		poolmetrics.Reload("tables", func() reload.Status { return status }),
	}
}

func TestEachFigureIsExported(t *testing.T) {
	want, err := os.Open("testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collectors()...)
	if err := testutil.GatherAndCompare(registry, want); err != nil {
		t.Error(err)
	}
}

func TestNamesFollowConventions(t *testing.T) {
	for _, c := range collectors() {
		problems, err := testutil.CollectAndLint(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestZeroFiguresAreZero(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(
		poolmetrics.Pool("a", func() poolswap.Stats { return poolswap.Stats{} }),
		poolmetrics.Pool("b", func() poolswap.Stats { return poolswap.Stats{} }),
		poolmetrics.Reload("a", func() reload.Status { return reload.Status{} }),
		poolmetrics.Reload("b", func() reload.Status { return reload.Status{} }),
	)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if value := m.GetGauge().GetValue() + m.GetCounter().GetValue(); value != 0 && family.GetName() != "poolswap_reload_info" {
				t.Errorf("%s is %v", family.GetName(), value)
			}
		}
	}
}

func TestRealPool(t *testing.T) {
	pool := poolswap.NewPool(func() *poolswap.Box[int] { return new(poolswap.Box[int]) }, nil)
	c := poolswap.NewContainer(pool, pool.Get())
	held := c.Acquire()
	c.Update(pool.Get())
	err := testutil.CollectAndCompare(poolmetrics.Pool("p", pool.Stats), strings.NewReader(`
# HELP poolswap_references_held References that readers hold, to current and to old versions.
# TYPE poolswap_references_held gauge
poolswap_references_held{pool="p"} 1
# HELP poolswap_objects Objects that exist, by where they are.
# TYPE poolswap_objects gauge
poolswap_objects{place="current",pool="p"} 1
poolswap_objects{place="elsewhere",pool="p"} 0
poolswap_objects{place="pending_reset",pool="p"} 0
poolswap_objects{place="resetting",pool="p"} 0
poolswap_objects{place="retired",pool="p"} 1
poolswap_objects{place="spare",pool="p"} 0
`), "poolswap_references_held", "poolswap_objects")
	if err != nil {
		t.Error(err)
	}
	c.Release(held)
	if err := pool.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNilFunctionsPanic(t *testing.T) {
	for want, call := range map[string]func(){
		"prometheus: Pool with nil stats":    func() { poolmetrics.Pool("", nil) },
		"prometheus: Reload with nil status": func() { poolmetrics.Reload("", nil) },
	} {
		func() {
			defer func() {
				if value := recover(); value != want {
					t.Errorf("the panic is %v, want %q", value, want)
				}
			}()
			call()
		}()
	}
}

var metricName = regexp.MustCompile(`\bpoolswap_\w+`)

// The dashboard shows metrics that there are, and no others.
func TestDashboardMetricsExist(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(text) {
		t.Fatal("dashboard.json is no JSON")
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collectors()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	exists := map[string]bool{}
	for _, family := range families {
		exists[family.GetName()] = true
	}
	names := metricName.FindAllString(string(text), -1)
	if len(names) < 10 {
		t.Fatalf("the dashboard names only %q", names)
	}
	for _, name := range names {
		if !exists[name] {
			t.Errorf("the dashboard names %s, which does not exist", name)
		}
	}
}
