package stripe_test

import (
	"math"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

func TestNewCountersAreZeroAndAligned(t *testing.T) {
	for _, portable := range []bool{false, true} {
		for range 100 {
			c := stripe.New(portable)
			if address := uintptr(unsafe.Pointer(c)); address%128 != 0 {
				t.Fatalf("counters at %#x are not aligned to 128 bytes", address)
			}
			if c.State.Load() != 0 || c.Acquired() != 0 || c.Released() != 0 {
				t.Fatal("new counters are not zero")
			}
			if want := !portable && stripe.Asymmetric(); c.CountsPlain() != want {
				t.Fatalf("portable %t counts plainly: %t", portable, c.CountsPlain())
			}
		}
	}
}

// TestCountersHaveNoPointers: New allocates stripes and uses the first as the
// header, so the garbage collector would not see a pointer in the header.
func TestCountersHaveNoPointers(t *testing.T) {
	typ := reflect.TypeFor[stripe.Counters]()
	for i := range typ.NumField() {
		switch kind := typ.Field(i).Type.Kind(); kind {
		case reflect.Pointer, reflect.UnsafePointer, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface, reflect.Slice, reflect.String:
			t.Errorf("field %s is a %v", typ.Field(i).Name, kind)
		}
	}
}

func TestEachNumberCountsOnItsStripeAndTheRestInTheOverflow(t *testing.T) {
	const owned = 4
	for _, plain := range []int{0, owned} {
		c := stripe.NewSized(plain, owned)
		want := map[int]uint64{}
		numbers := []int{0, 1, 2, 3, 3, 4, 5, 100, math.MaxInt32}
		for _, k := range numbers {
			c.CountAcquired(k)
			c.CountReleased(k)
			c.CountReleased(k)
			want[seam.Stripe(k, owned)]++
		}
		for k := range owned + 1 {
			if acquired, released := c.Counted(k); acquired != want[k] || released != 2*want[k] {
				t.Errorf("%d of %d stripes plain: stripe %d counted %d and %d, want %d and %d",
					plain, owned, k, acquired, released, want[k], 2*want[k])
			}
		}
		if c.Acquired() != uint64(len(numbers)) || c.Released() != 2*uint64(len(numbers)) {
			t.Errorf("the sums are %d and %d", c.Acquired(), c.Released())
		}
	}
}

// TestTheAssemblyOffsetsMatchTheLayout reads, at the offsets that the assembly
// uses, the values that the methods wrote.
func TestTheAssemblyOffsetsMatchTheLayout(t *testing.T) {
	const owned = 3
	c := stripe.NewSized(owned, owned)
	word := func(offset uintptr) *uint64 { return (*uint64)(unsafe.Add(unsafe.Pointer(c), offset)) }
	for k := range uintptr(owned) {
		c.Preset(int(k), 10+uint64(k), 20+uint64(k))
		if got := *word(k<<stripe.StripeShift + stripe.AcquiredOffset); got != 10+uint64(k) {
			t.Errorf("acquired of stripe %d is not where the assembly looks: %d", k, got)
		}
		if got := *word(k<<stripe.StripeShift + stripe.ReleasedOffset); got != 20+uint64(k) {
			t.Errorf("released of stripe %d is not where the assembly looks: %d", k, got)
		}
	}
	c.State.Store(77)
	if got := *word(stripe.StateOffset); got != 77 {
		t.Errorf("the state is not where the assembly looks: %d", got)
	}
	if got := *(*int)(unsafe.Add(unsafe.Pointer(c), stripe.PlainOffset)); got != owned {
		t.Errorf("plain is not where the assembly looks: %d", got)
	}
}

func TestSumsAreModular(t *testing.T) {
	c := stripe.NewSized(0, 2)
	c.Preset(0, math.MaxUint64, 3)
	c.Preset(1, 5, math.MaxUint64-1)
	c.Preset(2, math.MaxUint64, 0)
	if c.Acquired() != 3 || c.Released() != 1 || c.Outstanding() != 2 {
		t.Errorf("acquired %d, released %d, outstanding %d", c.Acquired(), c.Released(), c.Outstanding())
	}
}

func TestOutstandingIsAcquiredMinusReleased(t *testing.T) {
	for _, portable := range []bool{false, true} {
		c := stripe.New(portable)
		for range 5 {
			k := seam.Pin()
			c.CountAcquired(k)
			seam.Unpin()
		}
		k := seam.Pin()
		c.CountReleased(k)
		seam.Unpin()
		if got := c.Outstanding(); got != 4 {
			t.Errorf("portable %t: %d outstanding, want 4", portable, got)
		}
	}
}

// TestHeldIsNeverNegative: a Release too many must not hide the references that other objects
// are held by, since Stats adds them up.
func TestHeldIsNeverNegative(t *testing.T) {
	c := stripe.NewSized(0, 2)
	c.Preset(0, 0, 1)
	if held, outstanding := c.Held(), c.Outstanding(); held != 0 || outstanding != -1 {
		t.Errorf("after a Release too many %d are held and %d outstanding, want 0 and -1", held, outstanding)
	}
	c.Preset(1, 3, 0)
	if held := c.Held(); held != 2 {
		t.Errorf("%d are held, want 2", held)
	}
}

// TestConcurrentCountsAreNotLost counts on several goroutines while GOMAXPROCS
// rises above the number of stripes.
func TestConcurrentCountsAreNotLost(t *testing.T) {
	const goroutines, times = 8, 20_000
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, portable := range []bool{false, true} {
		c := stripe.New(portable)
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				for i := range times {
					k := seam.Pin()
					c.CountAcquired(k)
					c.CountReleased(k)
					seam.Unpin()
					if i%100 == 0 {
						runtime.Gosched()
					}
				}
			})
		}
		for procs := 1; procs <= 4*runtime.NumCPU(); procs++ {
			runtime.GOMAXPROCS(procs)
			runtime.Gosched()
		}
		all.Wait()
		if c.Acquired() != goroutines*times || c.Released() != goroutines*times {
			t.Errorf("portable %t: counted %d and %d, want %d of each", portable, c.Acquired(), c.Released(), goroutines*times)
		}
	}
}
