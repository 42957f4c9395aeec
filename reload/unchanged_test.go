package reload_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

func TestUnchangedContentHasTheTimeOfTheNewest(t *testing.T) {
	t.Parallel()
	fake := keptThenBad(t, t.TempDir())
	source := &dated{Source: fake, modified: time.Unix(1000, 0)}
	c, _ := newTexts()
	r := reload.New(c, source, load, reload.Options{Logger: quiet})
	push(fake, "good")
	succeeds(t, r, c, "good")
	source.modified = time.Unix(2000, 0)
	push(fake, "good")
	succeeds(t, r, c, "good")
	if s := r.Status(); s.Version != 1 || s.Modified.Unix() != 2000 {
		t.Errorf("the status is %+v", s)
	}
}

// Held is of attempts that fail now, not of one that failed once.
func TestNothingHoldsAnObjectAfterAnAttemptSucceeded(t *testing.T) {
	synctest.Test(t, testNothingHolds) // an attempt waits for an object
}

func testNothingHolds(t *testing.T) {
	pool := poolswap.NewPoolWithOptions(func() *text { return new(text) }, nil, poolswap.Options[text]{MaxLive: 2})
	c := poolswap.NewEmptyContainer(pool)
	fake := keptThenBad(t, t.TempDir())
	r := reload.New(c, fake, load, reload.Options{Logger: quiet})
	push(fake, "one")
	succeeds(t, r, c, "one")
	held := c.Acquire()
	push(fake, "two")
	succeeds(t, r, c, "two")
	push(fake, "three")
	failsWith(t, r, reload.Publishing)
	if r.Status().Held() == nil {
		t.Error("Held is nil while the attempt fails")
	}
	c.Release(held)
	succeeds(t, r, c, "three")
	if s := r.Status(); s.Held() != nil || s.Err == nil {
		t.Errorf("held: %v; the last error is %v", s.Held(), s.Err)
	}
}
