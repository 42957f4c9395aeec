package oplog_test

import (
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/oplog"
)

func TestNewRefusesOptions(t *testing.T) {
	for want, change := range map[string]func(*tableOptions){
		"oplog: Options.New is nil":           func(c *tableOptions) { c.New = nil },
		"oplog: Options.Apply is nil":         func(c *tableOptions) { c.Apply = nil },
		"oplog: Options.Copy is nil":          func(c *tableOptions) { c.Copy = nil },
		"oplog: Options.Reset is nil":         func(c *tableOptions) { c.Reset = nil },
		"oplog: Options.Keep is -1, negative": keep(-1),
		"oplog: Options.Pool.Spares is NoSpares, so each publication would copy the whole object": func(c *tableOptions) { c.Pool.Spares = poolswap.NoSpares },
		"oplog: Options.Pool.Spares is -2, negative":                                              func(c *tableOptions) { c.Pool.Spares = -2 },
		"oplog: Options.Pool.MaxLive is -1, negative":                                             maxLive(-1),
		"oplog: Options.Pool.MaxLive is 1, but one object is current and one is changed":          maxLive(1),
	} {
		options := newOptions()
		change(&options)
		if log, err := oplog.New(options); log != nil || err == nil || err.Error() != want {
			t.Errorf("New returned %v and the error %v, want %s", log, err, want)
		}
	}
}

func TestNewMapRefusesOptions(t *testing.T) {
	if m, err := oplog.NewMap(oplog.MapOptions[int, int]{Keep: -1}); m != nil || err == nil || err.Error() != "oplog: Options.Keep is -1, negative" {
		t.Errorf("NewMap returned %v and the error %v", m, err)
	}
	options := oplog.MapOptions[int, int]{}
	options.Pool.MaxLive = 1
	if m, err := oplog.NewMap(options); m != nil || err == nil {
		t.Errorf("NewMap with a MaxLive of 1 returned %v and the error %v", m, err)
	}
}

func TestNewWithBadFactory(t *testing.T) {
	options := newOptions()
	options.New = func() *table { return nil }
	pooltest.WantPanic(t, "poolswap: the factory of the pool of *oplog_test.table returned nil", func() { oplog.New(options) })
	options.New = func() *table { panic("no memory") }
	pooltest.WantPanic(t, "no memory", func() { oplog.New(options) })
}

func TestNewLogHasEmptyObject(t *testing.T) {
	log := newLog(t)
	obj := log.Container().Acquire()
	if obj == nil {
		t.Fatal("nothing is current")
	}
	defer log.Container().Release(obj)
	if version := log.Container().VersionOf(obj); contentOf(obj) != "map[]" || version == 0 || version != log.Container().Version() {
		t.Errorf("it is %s, of version %d; the container is at %d", contentOf(obj), version, log.Container().Version())
	}
	if stats := log.Stats(); stats != (oplog.Stats{}) {
		t.Errorf("%+v", stats)
	}
}

func TestDefaultKeep(t *testing.T) {
	log := newLog(t)
	batch := make([]operation, oplog.DefaultKeep/2)
	for i := range batch {
		batch[i] = set(uint16(i%7), uint64(i))
	}
	publish(t, log, batch...)
	publish(t, log, batch...)
	if kept := log.Stats().Kept; kept != oplog.DefaultKeep {
		t.Errorf("%d are kept of %d", kept, oplog.DefaultKeep)
	}
	publish(t, log, set(1, 1))
	if kept := log.Stats().Kept; kept != oplog.DefaultKeep/2+1 {
		t.Errorf("one more, and %d are kept", kept)
	}
}
