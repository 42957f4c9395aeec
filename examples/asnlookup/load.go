package main

import (
	"context"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap"
)

const (
	targets   = 1 << 16 // addresses that readers look up
	timedRead = 1 << 10 // one read in so many is timed, so that the clock is not what is measured
)

// readings are what one reader counted.
type readings struct {
	reads   uint64
	missing uint64 // looked up and not found: 0 while every table has the ranges of the first
	timed   uint64
	slowest time.Duration // of those timed
}

// measurement is one run of the load mode.
type measurement struct {
	*service
	size      tableSize
	first     cost // of the first load, into a new table
	recycled  cost // of a load into a table that was used before
	readers   []readings
	swaps     int
	postponed int  // reloads that found every table in use
	spent     cost // by all of the run
}

// measure drives the container without HTTP: as many readers as processors
// look up addresses while the writer reloads the table over and over. It writes
// a report to out.
func measure(ctx context.Context, c config, out io.Writer, logTo *log.Logger) error {
	quiet := log.New(io.Discard, "", 0) // not a line for each of many reloads; an error is returned
	m := measurement{service: newService(c.source(), c.overlaps, quiet)}

	logTo.Printf("measuring for %v", c.load)
	if err := m.warmUp(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.load)
	defer cancel()
	if err := m.run(ctx); err != nil {
		return err
	}
	return m.report(out)
}

// warmUp makes all tables that the run needs: one that is current, one that is
// filled, and one that a reader still holds which lost its processor.
func (m *measurement) warmUp() (err error) {
	if m.first, err = measured(m.reload); err != nil {
		return err
	}
	m.size = *m.counts.size.Load()
	held := m.tables.Acquire()
	err = errors.Join(m.reload(), m.reload())
	m.tables.Release(held)
	if err != nil {
		return err
	}
	m.recycled, err = measured(m.reload)
	return err
}

func (m *measurement) reload() error { return m.reloader.reload("load") }

// cost is what something allocated, and how long it took.
type cost struct {
	bytes, objects uint64
	took           time.Duration
}

// measured returns what f costs the whole process.
func measured(f func() error) (cost, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err := f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return cost{after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs, took}, err
}

// run reads and reloads until ctx is done.
func (m *measurement) run(ctx context.Context) (err error) {
	m.readers = make([]readings, runtime.GOMAXPROCS(0))
	addrs := m.addresses()
	m.spent, err = measured(func() error {
		var stop atomic.Bool
		var group sync.WaitGroup
		for i := range m.readers {
			group.Go(func() { m.readers[i] = m.read(addrs, uint64(i), &stop) })
		}
		defer group.Wait()
		defer stop.Store(true)
		return m.write(ctx)
	})
	return err
}

// write reloads until ctx is done, but once at least: there has to be something
// to report.
func (m *measurement) write(ctx context.Context) error {
	for m.swaps == 0 || ctx.Err() == nil {
		switch err := m.reload(); {
		case err == nil:
			m.swaps++
		case errors.Is(err, poolswap.ErrLimit):
			m.postponed++
			runtime.Gosched() // to the readers that lost their processors, and hold the tables
		default:
			return err
		}
	}
	return nil
}

// read looks up addresses until it is told to stop, but a few at least.
func (m *measurement) read(addrs []netip.Addr, seed uint64, stop *atomic.Bool) readings {
	var r readings // on the stack: readers must not share a cache line
	random := rand.NewPCG(seed, seed)
	for r.timed == 0 || !stop.Load() {
		bits := random.Uint64()
		start := time.Now()
		m.readOne(addrs, bits, &r)
		r.slowest = max(r.slowest, time.Since(start))
		r.timed++
		for i := range uint64(timedRead - 1) {
			m.readOne(addrs, bits+i*0x9e3779b97f4a7c15, &r) // far apart, and cheaper than a new random number
		}
	}
	return r
}

// readOne is one read as a program would do it.
func (m *measurement) readOne(addrs []netip.Addr, bits uint64, r *readings) {
	ip := addrs[bits%targets]
	t := m.tables.Acquire()
	_, ok := t.lookup(ip)
	m.tables.Release(t)
	r.reads++
	if !ok {
		r.missing++
	}
}

// addresses returns what readers look up: the beginnings of ranges, in random
// order, so that each is in the table.
func (m *measurement) addresses() []netip.Addr {
	t := m.tables.Acquire()
	defer m.tables.Release(t)
	random := rand.New(rand.NewPCG(1, 2))
	addrs := make([]netip.Addr, targets)
	for i := range addrs {
		if n := random.IntN(t.ranges()); n < len(t.v4) {
			addrs[i] = t.v4[n].first.netip()
		} else {
			addrs[i] = t.v6[n-len(t.v4)].first.netip()
		}
	}
	return addrs
}
