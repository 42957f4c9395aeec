package seam_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
)

// queue is goroutines that wait for one turn, in a known order.
type queue struct {
	turn  seam.Turn
	ended chan int // those that are done, each with the turn or without
}

// join starts goroutine i, which takes the turn, passes it on, and sends i if it
// had the turn. It returns when the goroutine waits, behind those before it.
func (q *queue) join(ctx context.Context, i int, signal *seam.Signal, gaveUp func(error)) {
	waiting := q.turn.Waiting()
	go func() {
		taken, err := q.turn.Take(ctx, signal)
		if !taken {
			gaveUp(err)
			return
		}
		q.ended <- i // before it passes the turn, so the order is that of the turn
		q.turn.Pass()
	}()
	for q.turn.Waiting() == waiting {
		runtime.Gosched()
	}
}

// order passes the turn that the test has, and returns who had it after that.
func (q *queue) order(n int) (had []int) {
	q.turn.Pass()
	for range n {
		had = append(had, <-q.ended)
	}
	return had
}

func newQueue(t *testing.T) *queue {
	q := &queue{ended: make(chan int)}
	if taken, err := q.turn.Take(t.Context(), nil); !taken || err != nil {
		t.Fatal("a turn that no goroutine has is not taken:", taken, err)
	}
	return q
}

func TestTheTurnPassesInTheOrderOfWaiting(t *testing.T) {
	q := newQueue(t)
	for i := range 5 {
		q.join(t.Context(), i, nil, func(err error) { t.Errorf("%d gave up: %v", i, err) })
	}
	if had := q.order(5); !slices.Equal(had, []int{0, 1, 2, 3, 4}) {
		t.Errorf("the turn passed in the order %d", had)
	}
}

func TestOneThatGivesUpLeavesTheQueue(t *testing.T) {
	q := newQueue(t)
	never := func(err error) { t.Errorf("another gave up: %v", err) }
	ctx, cancel := context.WithCancel(t.Context())
	signal := seam.NewSignal()
	cancelled, signalled := make(chan error, 1), make(chan error, 1)
	q.join(t.Context(), 0, signal, never)
	q.join(ctx, 1, nil, func(err error) { cancelled <- err })
	q.join(t.Context(), 2, nil, never)
	other := seam.NewSignal()
	q.join(ctx, 3, other, func(err error) { signalled <- err })

	other.Fire()
	if err := <-signalled; err != nil {
		t.Errorf("Take that a signal ended returned %v", err)
	}
	cancel()
	if err := <-cancelled; !errors.Is(err, context.Canceled) {
		t.Errorf("Take that its context ended returned %v", err)
	}
	if had := q.order(2); !slices.Equal(had, []int{0, 2}) {
		t.Errorf("the turn passed in the order %d, want 0 and 2", had)
	}
	if taken, err := q.turn.Take(t.Context(), nil); !taken || err != nil {
		t.Error("the turn was lost:", taken, err)
	}
}

// TestAFreeTurnIsTakenUnlessTheSignalHasFired: a turn that needs no waiting does
// not depend on the context, which the caller looks at itself.
func TestAFreeTurnIsTakenUnlessTheSignalHasFired(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	signal := seam.NewSignal()
	var turn seam.Turn
	for range 100 {
		if taken, err := turn.Take(ctx, signal); !taken || err != nil {
			t.Fatal(taken, err)
		}
		turn.Pass()
	}
	signal.Fire()
	for range 100 {
		if taken, err := turn.Take(t.Context(), signal); taken || err != nil {
			t.Fatal(taken, err)
		}
	}
}
