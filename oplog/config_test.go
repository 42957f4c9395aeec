package oplog_test

import (
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/oplog"
)

func TestNewSaysWhatIsWrongAboutAConfig(t *testing.T) {
	for want, change := range map[string]func(*tableConfig){
		"oplog: Config.New is nil":           func(c *tableConfig) { c.New = nil },
		"oplog: Config.Apply is nil":         func(c *tableConfig) { c.Apply = nil },
		"oplog: Config.Copy is nil":          func(c *tableConfig) { c.Copy = nil },
		"oplog: Config.Reset is nil":         func(c *tableConfig) { c.Reset = nil },
		"oplog: Config.Keep is -1, negative": keep(-1),
		"oplog: Config.Pool.Spares is NoSpares, so each publication would copy the whole object": func(c *tableConfig) { c.Pool.Spares = poolswap.NoSpares },
		"oplog: Config.Pool.Spares is -2, negative":                                              func(c *tableConfig) { c.Pool.Spares = -2 },
		"oplog: Config.Pool.MaxLive is -1, negative":                                             maxLive(-1),
		"oplog: Config.Pool.MaxLive is 1, but one object is current and one is changed":          maxLive(1),
	} {
		config := newConfig()
		change(&config)
		if log, err := oplog.New(config); log != nil || err == nil || err.Error() != want {
			t.Errorf("New returned %v and the error %v, want %s", log, err, want)
		}
	}
}

func TestNewMapSaysWhatIsWrongAboutAConfig(t *testing.T) {
	if m, err := oplog.NewMap(oplog.MapConfig[int, int]{Keep: -1}); m != nil || err == nil || err.Error() != "oplog: Config.Keep is -1, negative" {
		t.Errorf("NewMap returned %v and the error %v", m, err)
	}
	config := oplog.MapConfig[int, int]{}
	config.Pool.MaxLive = 1
	if m, err := oplog.NewMap(config); m != nil || err == nil {
		t.Errorf("NewMap with a MaxLive of 1 returned %v and the error %v", m, err)
	}
}

func TestNewPanicsIfConfigNewPanicsOrReturnsNil(t *testing.T) {
	config := newConfig()
	config.New = func() *table { return nil }
	pooltest.WantPanic(t, "poolswap: the factory of the pool of *oplog_test.table returned nil", func() { oplog.New(config) })
	config.New = func() *table { panic("no memory") }
	pooltest.WantPanic(t, "no memory", func() { oplog.New(config) })
}

func TestAReaderOfANewLogSeesAnEmptyObjectAtOnce(t *testing.T) {
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

func TestAKeepOfZeroIsDefaultKeep(t *testing.T) {
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
