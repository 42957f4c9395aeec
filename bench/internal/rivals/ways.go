package rivals

// Way says what a rival is, for somebody who meets it first.
type Way struct{ Name, Is string }

// Ways are the rivals of the suites that share one object between readers and
// a writer, in the order in which suites show them.
var Ways = []Way{
	{"PoolSwap", "this library: readers count themselves in and out with Acquire and Release, and what the last one has left is emptied and filled again"},
	{"WithAcquire", "the same with a function that is called in between"},
	{"Reader.Load", "this library in a loop: a goroutine keeps what it has until there is something newer"},
	{"Portable", "PoolSwap as it counts where the system has no membarrier"},
	{"AtomicPtr", "a new object for each update, swapped by an atomic.Pointer; the garbage collector takes the old one"},
	{"atomic.Pointer", "the Load of an AtomicPtr by itself"},
	{"MutexAlloc", "AtomicPtr with a sync.RWMutex around the pointer"},
	{"MutexInPlace", "one object, filled again under the write lock of a sync.RWMutex; nobody can read meanwhile"},
	{"RWMutex", "the read lock of a MutexInPlace by itself"},
	{"RWMutexRef", "RWMutex and count, the usual way to recycle: pointer and number of holders under a sync.RWMutex, old objects in a sync.Pool"},
	{"Unsynchronized", "no way to share at all, but what the machine can do at best"},
}
