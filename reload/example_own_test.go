package reload_test

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// List is a Source of one's own: what a process is given over some other way,
// such as a message queue.
type List struct {
	mu      sync.Mutex
	number  int // of the newest, its revision
	text    string
	changed chan struct{} // closed by the next Set
}

func NewList() *List { return &List{changed: make(chan struct{})} }

func (l *List) Set(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.number++
	l.text = text
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *List) newest() (revision, text string, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strconv.Itoa(l.number), l.text, l.changed
}

func (l *List) Fetch(_ context.Context, have string) (*reload.Content, error) {
	revision, text, _ := l.newest()
	if revision == have {
		return nil, reload.ErrNotModified
	}
	return &reload.Content{Revision: revision, Size: int64(len(text)), Body: io.NopCloser(strings.NewReader(text))}, nil
}

func (l *List) Wait(ctx context.Context, have string) error {
	revision, _, changed := l.newest()
	if revision != have {
		return nil
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func ExampleSource() {
	list := NewList()
	tables := newTables()
	reloader := reload.New(tables, list, loadTable, reload.Options{})
	list.Set("a.example")
	fmt.Println(reloader.Reload(context.Background()))
	show(tables)
	// Output:
	// <nil>
	// [a.example]
}

// A Source that is a Waiter is asked when it changes, long before Every is over.
func ExampleWaiter() {
	ctx, cancel := context.WithCancel(context.Background())
	list := NewList()
	list.Set("a.example")
	tables := newTables()
	reloader := reload.New(tables, list, loadTable, reload.Options{Every: time.Hour})
	ended := make(chan error)
	go func() { ended <- reloader.Run(ctx) }()
	version, _ := tables.Wait(ctx, 0)
	list.Set("b.example")
	_, _ = tables.Wait(ctx, version)
	show(tables)
	cancel()
	<-ended
	// Output: [b.example]
}
