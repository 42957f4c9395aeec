// Package trace shows who holds the objects of a poolswap pool as a profile of pprof: the
// references to traced versions, by the line that took them.
//
//	http.Handle("/debug/pprof/tables", trace.Handler(pool))
//
//	go tool pprof -sample_index=age http://service/debug/pprof/tables
//
// Which versions are traced, Pool.Trace and Options.HeldTooLong say. Without one the
// profile is empty.
package trace

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/google/pprof/profile"

	"github.com/poolswap/poolswap"
)

// Pool is any *poolswap.Pool.
type Pool interface{ Holders() []poolswap.Holder }

// Handler serves the references to traced versions of the pools: as a profile, or with
// ?debug=1 as text. It is safe for concurrent use. Like the other handlers of
// /debug/pprof, it shows function names and paths of the program to each who may ask.
func Handler(pools ...Pool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var holders []poolswap.Holder
		for _, pool := range pools {
			holders = append(holders, pool.Holders()...)
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.FormValue("debug") != "" && r.FormValue("debug") != "0" {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			for _, h := range holders {
				if _, err := fmt.Fprintf(w, "%v\n\n", h); err != nil {
					return
				}
			}
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", `attachment; filename="holders"`)
		_ = Write(w, holders) // the client is gone
	})
}

// Write writes the references as a profile, compressed, in the format of pprof. A sample
// is a place that took references: how many, and the time since, in nanoseconds; its label
// is the version. It fails where w does.
func Write(w io.Writer, holders []poolswap.Holder) error {
	now := time.Now()
	p := &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "references", Unit: "count"}, {Type: "age", Unit: "nanoseconds"}},
		DefaultSampleType: "references",
		TimeNanos:         now.UnixNano(),
	}
	b := builder{p, map[uintptr]*profile.Location{}, map[string]*profile.Function{}}
	for len(holders) > 0 {
		first := holders[0]
		sample := &profile.Sample{
			Value:    make([]int64, 2),
			NumLabel: map[string][]int64{"version": {int64(first.Version)}}, //nolint:gosec // a count
		}
		for _, pc := range first.Stack {
			sample.Location = append(sample.Location, b.location(pc))
		}
		rest := holders[:0:0]
		for _, h := range holders {
			if h.Version != first.Version || !slices.Equal(h.Stack, first.Stack) {
				rest = append(rest, h)
				continue
			}
			sample.Value[0]++
			sample.Value[1] += now.Sub(h.Since).Nanoseconds()
		}
		p.Sample, holders = append(p.Sample, sample), rest
	}
	return p.Write(w)
}

// builder adds locations and functions to a profile, each once.
type builder struct {
	profile   *profile.Profile
	locations map[uintptr]*profile.Location
	functions map[string]*profile.Function
}

func (b builder) location(pc uintptr) *profile.Location {
	if known := b.locations[pc]; known != nil {
		return known
	}
	l := &profile.Location{ID: uint64(len(b.locations) + 1), Address: uint64(pc)}
	frames := runtime.CallersFrames([]uintptr{pc})
	for more := true; more; {
		var frame runtime.Frame
		if frame, more = frames.Next(); frame.Function != "" {
			l.Line = append(l.Line, profile.Line{Function: b.function(frame), Line: int64(frame.Line)})
		}
	}
	b.locations[pc] = l
	b.profile.Location = append(b.profile.Location, l)
	return l
}

func (b builder) function(frame runtime.Frame) *profile.Function {
	if known := b.functions[frame.Function]; known != nil {
		return known
	}
	f := &profile.Function{ID: uint64(len(b.functions) + 1), Name: frame.Function, SystemName: frame.Function, Filename: frame.File}
	b.functions[frame.Function] = f
	b.profile.Function = append(b.profile.Function, f)
	return f
}
