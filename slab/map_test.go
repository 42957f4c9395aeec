package slab_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"testing"
	"weak"

	"github.com/poolswap/poolswap/slab"
)

// TestMapIsAMap compares random operations with those of a Go map, of values with
// pointers.
func TestMapIsAMap(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		m, other := new(slab.Map[*uint64]), new(slab.Map[*uint64])
		want, wantOther := map[string]*uint64{}, map[string]*uint64{}
		for range 500 {
			key := randomKey(r)
			switch n := r.IntN(100); {
			case n < 50:
				m.Set(key, &seed)
				want[key] = &seed
			case n < 60:
				v := new(uint64)
				m.SetBytes([]byte(key), v)
				want[key] = v
			case n < 85:
				m.Delete(key)
				delete(want, key)
			case n < 87:
				keys := []string{key, randomKey(r), randomKey(r), key + "more"}
				m.SetAllBytes(func(yield func(key []byte, v *uint64) bool) {
					for _, key := range keys {
						yield([]byte(key), &seed)
					}
				})
				for _, key := range keys {
					want[key] = &seed
				}
			case n < 88:
				m.Grow(r.IntN(50))
			case n < 91:
				m.Compact()
			case n < 94:
				m, other, want, wantOther = other, m, wantOther, want
			case n < 97:
				m.CopyFrom(other)
				want = maps.Clone(wantOther)
			case n < 98:
				m.Reset()
				clear(want)
			}
			if err := m.Account(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got, ok := m.Get(key); ok != mapHas(want, key) || got != want[key] {
				t.Fatalf("seed %d: Get(%q) is %v, %v, want %v", seed, key, got, ok, want[key])
			}
			if got, ok := m.GetBytes([]byte(key)); ok != mapHas(want, key) || got != want[key] {
				t.Fatalf("seed %d: GetBytes(%q) is %v, %v, want %v", seed, key, got, ok, want[key])
			}
		}
		if got := maps.Collect(m.All()); !maps.Equal(got, want) || m.Len() != len(want) {
			t.Fatalf("seed %d: All has %v, want %v", seed, got, want)
		}
	}
}

// Keys whose hashes share their high bits share a home.
func TestMapFindsKeysOfOneHome(t *testing.T) {
	var m slab.Map[int]
	m.Grow(10_000) // the seed stays
	var near []string
	for n := 0; len(near) < 500; n++ {
		if key := fmt.Sprint(n); m.HashOf(key) < 1<<64/256 {
			near = append(near, key)
		}
	}
	for n, key := range near {
		m.Set(key, n)
	}
	for round := range 5 {
		for n, key := range near {
			v, ok := m.Get(key)
			if gone := n < round*100; ok == gone || !gone && v != n {
				t.Fatalf("after %d deletions, Get of key %d is %d, %v", round*100, n, v, ok)
			}
		}
		for _, key := range near[round*100 : (round+1)*100] {
			m.Delete(key)
		}
	}
	if m.Len() != 0 {
		t.Errorf("%d entries are left", m.Len())
	}
}

// Keys that overflowed stay where they are when the others of their home are gone, so
// that in the end no bucket is without one that went past it.
func TestMapMissesWhereEveryBucketOverflowed(t *testing.T) {
	var m slab.Map[int]
	m.Grow(17) // two buckets of 12
	var homes [2][]string
	for n := 0; len(homes[0]) < 14 || len(homes[1]) < 14; n++ {
		key := fmt.Sprint(n)
		home := m.HashOf(key) >> 63
		homes[home] = append(homes[home], key)
	}
	for _, key := range homes[0][:13] {
		m.Set(key, 0)
	}
	for _, key := range homes[0][:12] {
		m.Delete(key)
	}
	for _, key := range homes[1][:12] {
		m.Set(key, 1)
	}
	for _, key := range []string{homes[0][13], homes[1][13]} {
		if _, ok := m.Get(key); ok {
			t.Errorf("Get finds %s", key)
		}
	}
	if m.Len() != 13 {
		t.Errorf("%d entries", m.Len())
	}
}

// TestBucketCountsMoreKeysThanSixteenBitsHold: the counter is in two words.
func TestBucketCountsMoreKeysThanSixteenBitsHold(t *testing.T) {
	for _, n := range []int{0, 1, 1<<16 - 1, 1 << 16, 1<<17 + 3} {
		counted, passed := slab.Pass(n)
		if counted != uint64(n) || passed(0) != (n > 0) {
			t.Errorf("%d of %d are counted, passed %t", counted, n, passed(0))
		}
		if n > 0 && (!passed(n-1) || passed(1)) {
			t.Errorf("%d came back of %d: it does not end at 0", n, n)
		}
	}
}

// TestMapKeepsNoValueAlive that is not in it.
func TestMapKeepsNoValueAlive(t *testing.T) {
	for _, c := range []struct {
		name string
		drop func(m *slab.Map[*uint64])
	}{
		{"Delete", func(m *slab.Map[*uint64]) { m.Delete("key") }},
		{"Reset", func(m *slab.Map[*uint64]) { m.Reset() }},
		{"Set", func(m *slab.Map[*uint64]) { m.Set("key", nil) }},
		{"CopyFrom of a smaller one", func(m *slab.Map[*uint64]) {
			m.Grow(1000) // the value moves behind the slots of the other
			m.CopyFrom(new(slab.Map[*uint64]))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := new(slab.Map[*uint64])
			value := new(uint64)
			weakly := weak.Make(value)
			m.Set("key", value)
			value = nil
			c.drop(m)
			for range 3 {
				runtime.GC()
			}
			if weakly.Value() != nil {
				t.Error("the value is alive")
			}
			m.Set("key", nil)
		})
	}
}

// TestMapHasAnotherSeedInEachLife, so that a client that has learned which keys collide
// knows it for one life at most.
func TestMapHasAnotherSeedInEachLife(t *testing.T) {
	var m slab.Map[int]
	m.Set("key", 1)
	before := m.Seed()
	if m.Reset(); m.Seed() == before {
		t.Error("the seed is the same after Reset")
	}
}

func TestMapRefusesANegativeGrow(t *testing.T) {
	defer func() {
		if text := fmt.Sprint(recover()); text != "slab: Grow by -1 entries" {
			t.Errorf("Grow panics with %s", text)
		}
	}()
	new(slab.Map[int]).Grow(-1)
}

func FuzzMap(f *testing.F) {
	f.Add([]byte("set get delete \x00\x00 set"))
	f.Fuzz(func(t *testing.T, program []byte) {
		var m slab.Map[int]
		want := map[string]int{}
		for n := 0; len(program) > 1; n++ {
			op, length := program[0], min(int(program[1])%9, len(program)-2)
			key := string(program[2:][:length])
			program = program[2+length:]
			switch op % 5 {
			case 0, 1:
				m.Set(key, n)
				want[key] = n
			case 2:
				m.Delete(key)
				delete(want, key)
			case 3:
				m.Compact()
			case 4:
				var c slab.Map[int]
				c.CopyFrom(&m)
				m.Reset()
				m.CopyFrom(&c)
			}
			if got, ok := m.Get(key); ok != mapHas(want, key) || got != want[key] {
				t.Fatalf("Get(%q) is %d, %v, want %d", key, got, ok, want[key])
			}
		}
		if got := maps.Collect(m.All()); !maps.Equal(got, want) {
			t.Fatalf("All has %v, want %v", got, want)
		}
	})
}

// FuzzMapOfCollidingKeys has 60 keys of one bucket and one tag, and as many of the
// buckets that they overflow into.
func FuzzMapOfCollidingKeys(f *testing.F) {
	var seeded slab.Map[int]
	seeded.Grow(1)
	var keys []string
	for n := 0; len(keys) < 120; n++ {
		key := fmt.Sprint(n)
		if h := seeded.HashOf(key); h>>60 == 0 && (len(keys) >= 60 || h&0xff == 7) {
			keys = append(keys, key)
		}
	}
	f.Add([]byte{0, 1, 2, 3, 128, 129, 130, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 131, 140, 15, 16, 17})
	f.Fuzz(func(t *testing.T, program []byte) {
		var m slab.Map[int]
		m.CopyFrom(&seeded)
		want := map[string]int{}
		for n, op := range program {
			key := keys[int(op&0x7f)%len(keys)]
			if op < 0x80 {
				m.Set(key, n)
				want[key] = n
			} else {
				m.Delete(key)
				delete(want, key)
			}
			other := keys[n%len(keys)]
			if got, ok := m.Get(other); ok != mapHas(want, other) || got != want[other] {
				t.Fatalf("after %d operations Get(%q) is %d, %v, want %d", n, other, got, ok, want[other])
			}
		}
		if got := maps.Collect(m.All()); !maps.Equal(got, want) || m.Len() != len(want) {
			t.Fatalf("All has %v, want %v", got, want)
		}
	})
}
