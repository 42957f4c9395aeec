package reload_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// A refusal is over when the source has what is loaded again, by its bytes.
func TestContentThatIsRestoredUnderANewRevisionEndsARefusal(t *testing.T) {
	t.Parallel()
	r, c, fake := refusing(t)
	push(fake, "good")
	succeeds(t, r, c, "good") // unchanged
	succeeds(t, r, c, "good") // not modified
	if s := r.Status(); s.Refused != "" || s.Failures != 0 || s.Revision != "3" {
		t.Errorf("the status is %+v", s)
	}
}

// Verify refuses the same bytes when they come a second time: other wrong bytes
// are another transfer that went wrong.
func TestTransfersThatGoWrongDifferentlyAreRepeated(t *testing.T) {
	t.Parallel()
	bodies, fetches := []string{"wrong 1", "wrong 2", "wrong 3", "right"}, 0
	c, _ := newTexts()
	r := reload.New(c, sourceFunc(func(_ context.Context, have string) (*reload.Content, error) {
		if have == "1" {
			return nil, reload.ErrNotModified
		}
		text := []byte(bodies[fetches])
		fetches++
		return &reload.Content{Revision: "1", Size: -1, Body: io.NopCloser(bytes.NewReader(text)), Verify: func(sum [32]byte) error {
			if sum != sumOf("right") {
				return errors.New("wrong digest")
			}
			return nil
		}}, nil
	}), load, reload.Options{Logger: quiet})
	for range 3 {
		if failure := failsWith(t, r, reload.Verifying); failure.Refused {
			t.Fatalf("after %d transfers: %v", fetches, failure)
		}
	}
	succeeds(t, r, c, "right")
}

// Accept may refuse what is loaded. That stays, and is still the newest.
func TestAnAcceptThatRefusesWhatIsLoadedLeavesItTheNewest(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	fake, strict := new(reloadtest.Fake), false
	r := reload.New(c, fake, func(ctx context.Context, next, current *text, content *reload.Content) error {
		if strict {
			return errBad
		}
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet})
	push(fake, "good")
	succeeds(t, r, c, "good")
	strict = true
	if err := r.Accept(t.Context(), "1"); !errors.Is(err, errBad) {
		t.Fatalf("Accept returned %v", err)
	}
	succeeds(t, r, c, "good")
	if s := r.Status(); s.Failures != 0 || s.Refused != "" {
		t.Errorf("the status is %+v", s)
	}
}

// Calls that share an attempt share the refusal that it found to last.
func TestReloadsThatShareAnAttemptShareTheRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, fake := faked(reload.Options{})
		push(fake, "bad")
		failsWith(t, r, reload.Loading)
		fake.Delay(time.Second)
		results := make(chan error, 3)
		for range cap(results) {
			go func() { results <- r.Reload(t.Context()) }()
			synctest.Wait()
		}
		for range cap(results) {
			if err := <-results; !errors.Is(err, errBad) {
				t.Errorf("Reload returned %v, want the refusal", err)
			}
		}
		if fake.Fetches() != 3 {
			t.Errorf("%d attempts, want the first, one, and one for the two that waited", fake.Fetches())
		}
	})
}

// An attempt whose caller gives up says nothing to those that wait with it.
func TestAnAttemptThatIsCancelledServesNoneThatWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c, fake := faked(reload.Options{})
		push(fake, "one")
		fake.Delay(time.Second)
		impatient, cancel := context.WithCancel(t.Context())
		defer cancel()
		results := make(chan error, 2)
		go func() { results <- r.Reload(t.Context()) }() // both others wait for it
		synctest.Wait()
		second := make(chan error, 1)
		go func() { second <- r.Reload(impatient) }()
		synctest.Wait()
		go func() { results <- r.Reload(t.Context()) }()
		time.Sleep(1500 * time.Millisecond)
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("the second returned %v", err)
		}
		for range cap(results) {
			if err := <-results; err != nil {
				t.Errorf("another returned %v", err)
			}
		}
		is(t, c, "one")
	})
}
