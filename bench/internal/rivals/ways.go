package rivals

// Way says what a rival is.
type Way struct{ Name, Is string }

// Ways are the rivals of the suites that share one object between readers and
// a writer, in the order in which suites show them.
var Ways = []Way{
	{"PoolSwap", "this library: readers Acquire and Release the object; after the last one the pool empties it and a writer fills it again"},
	{"WithAcquire", "the same with WithAcquire, which calls a function in between"},
	{"Reader.Load", "this library in a loop: a goroutine keeps its object until there is a newer one"},
	{"Portable", "PoolSwap with atomic counting, as on systems without membarrier"},
	{"AtomicPtr", "a new object for each update, swapped by an atomic.Pointer; the garbage collector takes the old one"},
	{"atomic.Pointer", "the Load of an AtomicPtr by itself"},
	{"MutexAlloc", "AtomicPtr with a sync.RWMutex around the pointer"},
	{"MutexInPlace", "one object, filled again under the write lock of a sync.RWMutex; readers wait"},
	{"RWMutex", "the read lock of a MutexInPlace by itself"},
	{"RWMutexRef", "RWMutex and count, the usual way to recycle: pointer and number of holders under a sync.RWMutex, old objects in a sync.Pool"},
	{"Unsynchronized", "no sharing at all: the best that the machine can do"},
}
