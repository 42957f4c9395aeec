package shared

import (
	"sync"

	"github.com/poolswap/poolswap"
	"wrap"
)

type Table = wrap.Table

var c *poolswap.Container[Table, *Table]

func use(*Table) {}

func literal() {
	r := c.NewReader()
	for range 4 {
		go func() { use(r.Load()) }() // want `goroutines that are started in a loop share the Reader of line 17`
	}
}

func load(r *poolswap.Reader[Table]) { use(r.Load()) }

func argument() {
	r := c.NewReader()
	for range 4 {
		go load(r) // want `share the Reader of line 26`
	}
}

func endless() {
	r := c.NewReader()
	for {
		go load(r) // want `share the Reader of line 33`
	}
}

func ofItsOwn() {
	for range 4 {
		r := c.NewReader()
		go func() {
			defer r.Close()
			use(r.Load())
		}()
	}
}

func madeInside() {
	for range 4 {
		go func() {
			r := c.NewReader()
			defer r.Close()
			use(r.Load())
		}()
	}
}

func one() {
	r := c.NewReader()
	var group sync.WaitGroup
	group.Add(1)
	go func() {
		defer group.Done()
		use(r.Load())
	}()
	group.Wait()
	r.Close()
}

func oneAfterTheOther(done chan struct{}) {
	r := c.NewReader()
	defer r.Close()
	for range 4 {
		go func() {
			use(r.Load())
			done <- struct{}{}
		}()
		<-done
	}
}
