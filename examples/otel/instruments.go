// Package otel shows a Reloader and its pool in OpenTelemetry: an example to copy.
// See README.md.
package otel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// Observe makes instruments of a Reloader's Status and its pool's Stats; name
// tells them from those of other Reloaders. Each collection calls both functions
// once, so its figures belong together. Unregister ends it.
func Observe(meter metric.Meter, name string, status func() reload.Status, stats func() poolswap.Stats) (metric.Registration, error) {
	attempts, err1 := meter.Int64ObservableCounter("poolswap.reload.attempts", metric.WithUnit("{attempt}"), metric.WithDescription("Attempts to load the content of the source."))
	swaps, err2 := meter.Int64ObservableCounter("poolswap.reload.swaps", metric.WithUnit("{swap}"), metric.WithDescription("Attempts that published new content."))
	failures, err3 := meter.Int64ObservableCounter("poolswap.reload.failures", metric.WithUnit("{failure}"), metric.WithDescription("Attempts that failed."))
	age, err4 := meter.Float64ObservableGauge("poolswap.reload.age", metric.WithUnit("s"), metric.WithDescription("Time since the content was last known to be the newest."))
	size, err5 := meter.Int64ObservableGauge("poolswap.reload.size", metric.WithUnit("By"), metric.WithDescription("Size of the loaded content."))
	objects, err6 := meter.Int64ObservableUpDownCounter("poolswap.object.count", metric.WithUnit("{object}"), metric.WithDescription("Objects of the pool that are current, replaced and still held, or ready for reuse."))
	held, err7 := meter.Float64ObservableGauge("poolswap.object.held_time", metric.WithUnit("s"), metric.WithDescription("Time since the oldest version that readers still hold was replaced."))
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7); err != nil {
		return nil, err
	}
	of := attribute.String("poolswap.name", name)
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s, p, all := status(), stats(), metric.WithAttributes(of)
		o.ObserveInt64(attempts, int64(s.Attempts), all)
		o.ObserveInt64(swaps, int64(s.Swaps), all)
		o.ObserveInt64(failures, int64(s.TotalFailures), all)
		o.ObserveFloat64(age, s.Age().Seconds(), all)
		o.ObserveInt64(size, s.Size, all)
		for state, n := range map[string]int{"current": p.Current, "retired": p.Retired, "spare": p.Spares} {
			o.ObserveInt64(objects, int64(n), metric.WithAttributes(of, attribute.String("poolswap.object.state", state)))
		}
		o.ObserveFloat64(held, p.OldestRetired.Seconds(), all)
		return nil
	}, attempts, swaps, failures, age, size, objects, held)
}
