package oplog_test

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
)

// Event is an operation on Accounts, as a change stream delivers it.
type Event struct {
	Offset  uint64 // grows along the stream, and begins with 1
	Account string
	Amount  int // is added to the balance
}

// Accounts are the balances at one offset of the stream.
type Accounts struct {
	poolswap.Ref
	offset  uint64 // of the last event that was applied
	refused int    // events without an account
	balance map[string]int
}

func (a *Accounts) apply(e Event) error {
	if e.Offset <= a.offset { // delivered before
		return nil
	}
	a.offset = e.Offset
	if e.Account == "" { // no error: it would be delivered again, and again
		a.refused++
		return nil
	}
	a.balance[e.Account] += e.Amount
	return nil
}

func (a *Accounts) copyFrom(src *Accounts) error {
	a.reset()
	a.offset, a.refused = src.offset, src.refused
	maps.Copy(a.balance, src.balance)
	return nil
}

func (a *Accounts) reset() {
	a.offset, a.refused = 0, 0
	clear(a.balance)
}

// Snapshot is the dump of a database, or the content that a program saves for its
// next start.
type Snapshot struct {
	Offset  uint64
	Balance map[string]int
}

// Follower keeps Accounts up to date with a stream.
type Follower struct {
	accounts *oplog.Log[Accounts, *Accounts, Event]
}

func NewFollower() (*Follower, error) {
	accounts, err := oplog.New(oplog.Options[Accounts, Event]{
		New:   func() *Accounts { return &Accounts{balance: map[string]int{}} },
		Apply: (*Accounts).apply,
		Copy:  (*Accounts).copyFrom,
		Reset: (*Accounts).reset,
	})
	if err != nil {
		return nil, err
	}
	return &Follower{accounts}, nil
}

// load publishes a snapshot with its offset.
func (f *Follower) load(ctx context.Context, from Snapshot) error {
	_, err := f.accounts.Replace(ctx, func(next *Accounts) error {
		next.offset = from.Offset
		maps.Copy(next.balance, from.Balance)
		return nil
	})
	return err
}

// follow publishes the events of each read as one version.
func (f *Follower) follow(ctx context.Context, read func(after uint64) ([]Event, error)) error {
	for {
		events, err := read(f.offset()) // of the published version
		if err != nil {
			return err
		}
		if _, err := f.accounts.Publish(ctx, events...); err != nil {
			return err
		}
	}
}

func (f *Follower) offset() (offset uint64) {
	f.accounts.Container().WithAcquire(func(a *Accounts) {
		if a != nil { // nil once the Log is closed
			offset = a.offset
		}
	})
	return offset
}

// save returns the current content, for the next start.
func (f *Follower) save() (s Snapshot) {
	f.accounts.Container().WithAcquire(func(a *Accounts) {
		if a != nil {
			s = Snapshot{a.offset, maps.Clone(a.balance)}
		}
	})
	return s
}

var errDisconnected = errors.New("disconnected")

// stream is a source that delivers two events at a time, the last one again, and
// breaks off at the end.
type stream []Event

func (s stream) read(after uint64) ([]Event, error) {
	if after == uint64(len(s)) {
		return nil, errDisconnected
	}
	return s[max(after, 1)-1 : min(after+2, uint64(len(s)))], nil
}

// A program follows a stream, ends, and starts again from its snapshot.
func Example_stream() {
	ctx := context.Background()
	source := stream{
		{1, "ann", 100},
		{2, "bob", 50},
		{3, "ann", -30},
		{4, "bob", 30},
		{5, "ann", -5},
		{6, "", 7},
		{7, "eve", 5},
	}
	first, _ := NewFollower()
	_ = first.load(ctx, Snapshot{1, map[string]int{"ann": 100}}) // of the database
	fmt.Println(first.follow(ctx, source[:4].read))
	saved := first.save()
	fmt.Println(saved.Offset, saved.Balance)

	second, _ := NewFollower() // after a restart
	_ = second.load(ctx, saved)
	fmt.Println(second.follow(ctx, source.read))
	second.accounts.Container().WithAcquire(func(a *Accounts) { fmt.Println(a.offset, a.balance, a.refused) })
	// Output:
	// disconnected
	// 4 map[ann:70 bob:80]
	// disconnected
	// 7 map[ann:65 bob:80 eve:5] 1
}
