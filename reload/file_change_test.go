package reload_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// whileRead returns a Reloader of a file, to which change is done while it is
// read for the first time, and its loads.
func whileRead(name string, change func() error, load func(context.Context, *text, *text, *reload.Content) error) (*reload.Reloader, *texts, *int) {
	c, _ := newTexts()
	loads := 0
	return reload.New(c, reload.File(name), func(ctx context.Context, next, current *text, content *reload.Content) error {
		if loads++; loads == 1 {
			if err := change(); err != nil {
				return err
			}
		}
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet}), c, &loads
}

// What was opened is whole: the next poll finds what is new.
func TestAFileThatIsReplacedWhileItIsReadIsLoadedOnce(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be replaced")
	}
	for name, change := range map[string]func(name string) error{
		"renamed over": func(name string) error {
			return errors.Join(os.WriteFile(name+".new", []byte("after"), 0o644), os.Rename(name+".new", name))
		},
		"removed and made": func(name string) error {
			return errors.Join(os.Remove(name), os.WriteFile(name, []byte("after"), 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "data")
			write(t, name, "before")
			r, c, loads := whileRead(name, func() error { return change(name) }, load)
			succeeds(t, r, c, "before")
			if *loads != 1 {
				t.Errorf("%d loads, want 1", *loads)
			}
			succeeds(t, r, c, "after")
		})
	}
}

// A load that fails at what is torn says nothing of the content.
func TestALoadThatFailsOnAFileThatChangesIsRepeated(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "data")
	write(t, name, "bad half of")
	r, c, loads := whileRead(name, func() error { return os.WriteFile(name, []byte("all of it"), 0o644) },
		func(_ context.Context, next, _ *text, content *reload.Content) error {
			start := make([]byte, 3)
			if _, err := content.Body.Read(start); err != nil {
				return err
			}
			if next.value = start; string(start) != "all" || content.Size == int64(len("bad half of")) {
				return errBad // before the end of the body
			}
			return nil
		})
	succeeds(t, r, c, "all")
	if *loads != 2 {
		t.Errorf("%d loads, want 2", *loads)
	}
	if s := r.Status(); s.TotalFailures != 0 {
		t.Errorf("the status is %+v", s)
	}
}
