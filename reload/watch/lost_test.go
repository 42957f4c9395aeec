package watch

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/poolswap/poolswap/reload"
)

// When the system has lost events, each file may have changed.
func TestLostEventsAreAHintForEachFile(t *testing.T) {
	t.Parallel()
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var waiters []reload.Waiter
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, name := range []string{"a", "b"} {
		waiter := w.File(filepath.Join(t.TempDir(), name)).(reload.Waiter)
		if err := waiter.Wait(ctx, ""); err != nil { // the watch begins
			t.Fatal(err)
		}
		waiters = append(waiters, waiter)
	}
	select {
	case w.notify.Errors <- fsnotify.ErrEventOverflow:
	case <-ctx.Done():
		t.Fatal("no one takes the error")
	}
	for _, waiter := range waiters {
		if err := waiter.Wait(ctx, ""); errors.Is(err, context.DeadlineExceeded) {
			t.Error("no hint")
		} else if err != nil {
			t.Error(err)
		}
	}
}
