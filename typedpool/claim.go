package typedpool

import (
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"weak"
)

// claims maps each object that was put, and not handed out since, to the place of
// the Put. It is empty in an ordinary build.
//
// The key is a weak pointer, so the table keeps no object alive. A weak pointer
// belongs to an object and not to an address: if another object reuses the
// memory, its weak pointer differs. Entries of dead objects are swept out when
// the table has doubled, so it never holds more than minSweep entries, or twice
// those that were alive at the last sweep.
var claims struct {
	sync.Mutex
	at      map[claimant]string // nil until the first claim
	sweepAt int                 // the number of entries that starts the next sweep
}

const minSweep = 1024

// A claimant is a weak pointer to an object of some type.
type claimant interface{ gone() bool }

type weakly[T any] struct{ weak.Pointer[T] }

func (w weakly[T]) gone() bool { return w.Value() == nil }

// claim records that x is put, as a value of type t, and panics if it was put
// already. It ignores objects of size 0, which may share an address.
func claim[T any](x *T, t reflect.Type) {
	if reflect.TypeFor[T]().Size() == 0 {
		return
	}
	at := callSite()
	if first := claimAt(weakly[T]{weak.Make(x)}, at); first != "" {
		panic("typedpool: Put of a " + t.String() + " twice (first at " + first + ", again at " + at + ")")
	}
}

// claimAt enters c, or returns the place of its first Put.
func claimAt(c claimant, at string) (first string) {
	claims.Lock()
	defer claims.Unlock()
	if first, ok := claims.at[c]; ok {
		return first
	}
	if claims.at == nil {
		claims.at, claims.sweepAt = make(map[claimant]string), minSweep
	}
	if len(claims.at) >= claims.sweepAt {
		for c := range claims.at {
			if c.gone() {
				delete(claims.at, c)
			}
		}
		claims.sweepAt = max(minSweep, 2*len(claims.at))
	}
	claims.at[c] = at
	return ""
}

// unclaim records that x is handed out, and returns the place of its Put.
func unclaim[T any](x *T) (at string) {
	c := weakly[T]{weak.Make(x)}
	claims.Lock()
	defer claims.Unlock()
	at = claims.at[c]
	delete(claims.at, c)
	return at
}

// callSite returns the file and line of the call that entered this package. It
// skips the runtime, which calls a deferred Put when a panic unwinds the stack.
func callSite() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	own := reflect.TypeFor[claimant]().PkgPath() + "."
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, own) && !strings.HasPrefix(f.Function, "runtime.") {
			return site(f.File, f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

func site(file string, line int) string { return file + ":" + strconv.Itoa(line) }
