package oplog

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"
)

// checkQueue fails the test unless q has these elements, and nothing else in its
// memory.
func checkQueue(t *testing.T, q *queue[int], want []int) {
	t.Helper()
	if !slices.Equal(q.all(), want) {
		t.Fatalf("the queue has %v, want %v", q.all(), want)
	}
	memory := q.items[:cap(q.items)]
	for i, element := range memory {
		if (i < q.start || i >= q.start+len(want)) && element != 0 {
			t.Fatalf("memory %v, of which [%d:%d] is the content", memory, q.start, q.start+len(want))
		}
	}
}

// TestQueueAgreesWithSlice compares random operations with those on a slice.
func TestQueueAgreesWithSlice(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		var q queue[int]
		var want []int
		next := 1
		for range 500 {
			switch random.IntN(2) {
			case 0:
				elements := make([]int, random.IntN(9))
				for i := range elements {
					elements[i], next = next, next+1
				}
				q.push(elements...)
				want = append(want, elements...)
			case 1:
				n := random.IntN(min(len(want), 9) + 1)
				q.drop(n)
				want = want[n:]
			}
			checkQueue(t, &q, want)
		}
	}
}

func TestQueueGrowth(t *testing.T) {
	for _, content := range []int{1, 2, 7, 64, 1000} {
		for _, step := range []int{1, 3, content} {
			var q queue[int]
			elements := slices.Repeat([]int{1}, step)
			cycle := func() {
				q.push(elements...)
				if extra := len(q.all()) - content; extra > 0 {
					q.drop(extra)
				}
			}
			for range 4*content + 10 {
				cycle()
			}
			grown := cap(q.items)
			if allocations := testing.AllocsPerRun(4*content+10, cycle); allocations != 0 || cap(q.items) != grown {
				t.Errorf("with %d elements, %d at a time: %v allocations, capacity %d and then %d", content, step, allocations, grown, cap(q.items))
			}
			if grown > 4*(content+step)+8 {
				t.Errorf("with %d elements, %d at a time, the capacity is %d", content, step, grown)
			}
		}
	}
}

func TestQueueLetsGoOfDropped(t *testing.T) {
	for name, removal := range map[string]func(q *queue[*[64]int]){
		"drop":                    func(q *queue[*[64]int]) { q.drop(3) },
		"drop of all":             func(q *queue[*[64]int]) { q.drop(5) },
		"drop and a move by push": func(q *queue[*[64]int]) { q.drop(4); q.push(make([]*[64]int, cap(q.items))...) },
	} {
		t.Run(name, func(t *testing.T) {
			var q queue[*[64]int]
			var pointers []weak.Pointer[[64]int]
			for range 5 {
				object := new([64]int)
				q.push(object)
				pointers = append(pointers, weak.Make(object))
			}
			removal(&q)
			runtime.GC()
			runtime.GC()
			for i, pointer := range pointers {
				if object := pointer.Value(); object != nil && !slices.Contains(q.all(), object) {
					t.Errorf("element %d was removed and is still referred to", i)
				}
			}
			runtime.KeepAlive(&q)
		})
	}
}
