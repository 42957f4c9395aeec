package seam_test

import (
	"sync"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
)

func TestGoroutineTellsGoroutinesApart(t *testing.T) {
	const goroutines = 50
	var (
		mu    sync.Mutex
		seen  = map[uintptr]bool{}
		ready sync.WaitGroup
		done  sync.WaitGroup
		leave = make(chan struct{})
	)
	ready.Add(goroutines)
	for range goroutines {
		done.Go(func() {
			id := seam.Goroutine()
			mu.Lock()
			seen[id] = true
			mu.Unlock()
			ready.Done()
			<-leave // all live at a time
			if again := seam.Goroutine(); again != id {
				t.Errorf("%#x first and %#x then", id, again)
			}
		})
	}
	ready.Wait()
	close(leave)
	done.Wait()
	if len(seen) != goroutines || seen[0] {
		t.Errorf("%d goroutines have %d numbers", goroutines, len(seen))
	}
}
