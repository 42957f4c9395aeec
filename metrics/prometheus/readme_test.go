package prometheus_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

var metricRow = regexp.MustCompile("(?m)^\\| `(poolswap_\\w+)` \\| (\\w+) \\|")

// The tables of README.md have each metric and its type.
func TestTablesHaveEachMetric(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, row := range metricRow.FindAllStringSubmatch(string(text), -1) {
		rows = append(rows, row[1]+" "+row[2])
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collectors()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var metrics []string
	for _, family := range families {
		metrics = append(metrics, family.GetName()+" "+strings.ToLower(family.GetType().String()))
	}
	slices.Sort(rows)
	slices.Sort(metrics)
	if !slices.Equal(rows, metrics) {
		t.Errorf("the tables have\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(metrics, "\n"))
	}
}
