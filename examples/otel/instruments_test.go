package otel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/examples/otel"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// table is an object that holds the loaded content.
type table struct {
	poolswap.Ref
	text []byte
}

// service is a Reloader with instruments, and a reader of them.
type service struct {
	tables   *poolswap.Container[table, *table]
	source   *reloadtest.Fake
	reloader *reload.Reloader
	reader   *metric.ManualReader
	stop     func() error
}

func newService() (*service, error) {
	pool := poolswap.NewPool(func() *table { return new(table) }, nil)
	s := &service{tables: poolswap.NewEmptyContainer(pool), source: new(reloadtest.Fake), reader: metric.NewManualReader()}
	s.reloader = reload.New(s.tables, s.source, func(_ context.Context, next, _ *table, content *reload.Content) (err error) {
		next.text, err = io.ReadAll(content.Body)
		return err
	}, reload.Options{Logger: slog.New(slog.DiscardHandler)})
	provider := metric.NewMeterProvider(metric.WithReader(s.reader))
	registration, err := otel.Observe(provider.Meter("example"), "tables", s.reloader.Status, pool.Stats)
	if err == nil {
		s.stop = registration.Unregister
	}
	return s, err
}

// figures returns the values of the instruments, by their names, kinds and
// attributes, with units.
func (s *service) figures() (map[string]string, error) {
	var all metricdata.ResourceMetrics
	if err := s.reader.Collect(context.Background(), &all); err != nil {
		return nil, err
	}
	figures := map[string]string{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				kind := "up-down counter"
				if data.IsMonotonic {
					kind = "counter"
				}
				put(figures, m, kind, data.DataPoints)
			case metricdata.Gauge[int64]:
				put(figures, m, "gauge", data.DataPoints)
			case metricdata.Gauge[float64]:
				put(figures, m, "gauge", data.DataPoints)
			default:
				return nil, fmt.Errorf("%s is a %T", m.Name, data)
			}
		}
	}
	return figures, nil
}

func put[N int64 | float64](figures map[string]string, m metricdata.Metrics, kind string, points []metricdata.DataPoint[N]) {
	for _, p := range points {
		name := m.Name
		if state, is := p.Attributes.Value("poolswap.object.state"); is {
			name += " " + state.AsString()
		}
		if of, _ := p.Attributes.Value("poolswap.name"); of != attribute.StringValue("tables") {
			name += " of nothing"
		}
		figures[name] = fmt.Sprint(kind, " ", p.Value, " ", m.Unit)
	}
}

// want checks that the figures have changed to these, and only these.
func (s *service) want(t *testing.T, want, changed map[string]string) {
	t.Helper()
	maps.Copy(want, changed)
	got, err := s.figures()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s is %q, want %q", name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d figures, want %d: %v", len(got), len(want), got)
	}
}

func TestInstruments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := newService()
		if err != nil {
			t.Fatal(err)
		}
		figures := map[string]string{}
		s.want(t, figures, map[string]string{
			"poolswap.reload.attempts":      "counter 0 {attempt}",
			"poolswap.reload.swaps":         "counter 0 {swap}",
			"poolswap.reload.failures":      "counter 0 {failure}",
			"poolswap.reload.age":           "gauge 0 s",
			"poolswap.reload.size":          "gauge 0 By",
			"poolswap.object.count current": "up-down counter 0 {object}",
			"poolswap.object.count retired": "up-down counter 0 {object}",
			"poolswap.object.count spare":   "up-down counter 0 {object}",
			"poolswap.object.held_time":     "gauge 0 s",
		})
		load := func(text string) {
			s.source.Push([]byte(text))
			if err := s.reloader.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
		}

		load("one")
		held := s.tables.Acquire()
		load("three")
		time.Sleep(90 * time.Second)
		s.want(t, figures, map[string]string{
			"poolswap.reload.attempts":      "counter 2 {attempt}",
			"poolswap.reload.swaps":         "counter 2 {swap}",
			"poolswap.reload.age":           "gauge 90 s",
			"poolswap.reload.size":          "gauge 5 By",
			"poolswap.object.count current": "up-down counter 1 {object}",
			"poolswap.object.count retired": "up-down counter 1 {object}",
			"poolswap.object.held_time":     "gauge 90 s",
		})

		s.source.Fail(errors.New("down"))
		for range 3 {
			if err := s.reloader.Reload(t.Context()); err == nil {
				t.Fatal("no error")
			}
		}
		s.tables.Release(held)
		synctest.Wait() // until the pool has reset it
		s.want(t, figures, map[string]string{
			"poolswap.reload.attempts":      "counter 5 {attempt}",
			"poolswap.reload.failures":      "counter 3 {failure}",
			"poolswap.object.count retired": "up-down counter 0 {object}",
			"poolswap.object.count spare":   "up-down counter 1 {object}",
			"poolswap.object.held_time":     "gauge 0 s",
		})

		load("after that")
		s.want(t, figures, map[string]string{
			"poolswap.reload.attempts": "counter 6 {attempt}",
			"poolswap.reload.swaps":    "counter 3 {swap}",
			"poolswap.reload.age":      "gauge 0 s",
			"poolswap.reload.size":     "gauge 10 By",
		})

		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		clear(figures)
		s.want(t, figures, nil)
	})
}

func ExampleObserve() {
	s, err := newService()
	if err != nil {
		fmt.Println(err)
		return
	}
	s.source.Push([]byte("a.example"))
	fmt.Println(s.reloader.Reload(context.Background()))
	figures, err := s.figures()
	fmt.Println(figures["poolswap.reload.size"], err)
	// Output:
	// <nil>
	// gauge 9 By <nil>
}
