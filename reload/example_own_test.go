package reload_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
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

// release is a Source of two files that belong together. Body has the length of
// the first in eight bytes, and then both.
type release struct{ users, roles reload.Source }

func (r release) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	users, err := r.users.Fetch(ctx, "")
	if err != nil {
		return nil, err
	}
	roles, err := r.roles.Fetch(ctx, "")
	if err != nil {
		return nil, errors.Join(err, users.Body.Close())
	}
	size := binary.BigEndian.AppendUint64(nil, uint64(users.Size)) // which File always knows
	both := &bodies{io.MultiReader(bytes.NewReader(size), users.Body, roles.Body), users.Body, roles.Body}
	revision := users.Revision + " " + roles.Revision
	if revision == have {
		return nil, errors.Join(reload.ErrNotModified, both.Close())
	}
	return &reload.Content{Revision: revision, Size: -1, Body: both}, nil
}

type bodies struct {
	io.Reader
	users, roles io.Closer
}

func (b *bodies) Close() error { return errors.Join(b.users.Close(), b.roles.Close()) }

// loadRelease refuses files of two releases. When the second file comes, that is
// another revision.
func loadRelease(_ context.Context, next, _ *Table, content *reload.Content) error {
	var size uint64
	if err := binary.Read(content.Body, binary.BigEndian, &size); err != nil {
		return err
	}
	if err := next.parse(io.LimitReader(content.Body, int64(size))); err != nil {
		return err
	}
	users := len(next.rows)
	if err := next.parse(content.Body); err != nil {
		return err
	}
	if users == 0 || users == len(next.rows) || next.rows[0] != next.rows[users] {
		return errors.New("users and roles do not begin with the name of the same release")
	}
	return nil
}

// Two files are loaded into one object, so no reader sees one without the other.
func Example_twoFiles() {
	ctx := context.Background()
	users, roles := new(reloadtest.Fake), new(reloadtest.Fake)
	tables := newTables()
	reloader := reload.New(tables, release{users, roles}, loadRelease, reload.Options{})
	users.Push([]byte("release 1\nann\n"))
	roles.Push([]byte("release 1\nadmin\n"))
	fmt.Println(reloader.Reload(ctx))
	users.Push([]byte("release 2\nbob\n"))
	fmt.Println(reloader.Reload(ctx) != nil)
	show(tables)
	roles.Push([]byte("release 2\nguest\n"))
	fmt.Println(reloader.Reload(ctx))
	show(tables)
	// Output:
	// <nil>
	// true
	// [release 1 ann release 1 admin]
	// <nil>
	// [release 2 bob release 2 guest]
}
