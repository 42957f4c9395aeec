// Package keyed holds the ways to change some keys of a map that goroutines
// read, each written as well as it can be, behind one interface.
package keyed

// Table is a map that is shared between readers and one writer, under one of
// Names.
type Table interface {
	// Update makes the changes of that range of Data.Changes, which follows the
	// range of the Update before, and shows them to readers.
	Update(from, to int) error

	// Warm returns how many updates of n changes it takes until the table needs
	// no more memory for others of that size.
	Warm(n int) int

	// Reader returns a loop for one goroutine, which adds up the values of keys,
	// and a function that ends its use. The loop is a function of its own, in
	// which the compiler can inline what it inlines in any program.
	Reader() (sum func(keys []string) int64, end func())
}

// New returns a table of that name that holds data, and no change of it yet.
func New(name string, data *Data) (Table, error) { return tables[name](data) }

// Names are the names that New knows, in the order in which suites show them.
var Names = []string{
	"Oplog", "Refill", "CopyRecycled", "CloneAtomicPtr", "Persistent", // whole versions
	"sync.Map", "xsync.Map", "RWMutexMap", // in place
	"PlainTwice", "PlainMap", // not shared
	"Oplog.Get", // for reads
}

var tables = map[string]func(*Data) (Table, error){
	"Oplog":          func(d *Data) (Table, error) { return newOplog(d) },
	"Oplog.Get":      func(d *Data) (Table, error) { t, err := newOplog(d); return oplogGet{t}, err },
	"Refill":         func(d *Data) (Table, error) { return newRefill(d) },
	"CopyRecycled":   func(d *Data) (Table, error) { return newCopyRecycled(d) },
	"CloneAtomicPtr": func(d *Data) (Table, error) { return newCloneAtomicPtr(d), nil },
	"Persistent":     func(d *Data) (Table, error) { return newPersistent(d), nil },
	"sync.Map":       func(d *Data) (Table, error) { return newSyncMap(d), nil },
	"xsync.Map":      func(d *Data) (Table, error) { return newXsyncMap(d), nil },
	"RWMutexMap":     func(d *Data) (Table, error) { return &rwMutexMap{data: d, values: d.plain()}, nil },
	"PlainTwice":     func(d *Data) (Table, error) { return &unshared{d, []plain{d.plain(), d.plain()}}, nil },
	"PlainMap":       func(d *Data) (Table, error) { return &unshared{d, []plain{d.plain()}}, nil },
}

// ready is part of tables that need no more memory after one update.
type ready struct{}

func (ready) Warm(int) int { return 1 }

// nothing ends the use of a loop that holds nothing.
func nothing() {}
