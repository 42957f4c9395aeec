package reloadtest_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// faultyWrapper passes on everything but for its faults.
type faultyWrapper struct {
	reload.Wrapper
	fetch    func(ctx context.Context, have string) (*reload.Content, error)
	wait     func(ctx context.Context, have string) error
	restore  func(ctx context.Context) (*reload.Content, time.Time, error)
	identity func() string
	name     func() string
}

func (w faultyWrapper) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	return w.fetch(ctx, have)
}

func (w faultyWrapper) Wait(ctx context.Context, have string) error { return w.wait(ctx, have) }

func (w faultyWrapper) Restore(ctx context.Context) (*reload.Content, time.Time, error) {
	return w.restore(ctx)
}

func (w faultyWrapper) Identity() string { return w.identity() }

func (w faultyWrapper) String() string { return w.name() }

// These have the methods of a Source alone, or one of its others each.
type (
	onlySource struct{ reload.Source }
	noWait     struct {
		onlySource
		reload.Restorer
		reload.Identifier
		fmt.Stringer
	}
	noRestore struct {
		onlySource
		reload.Waiter
		reload.Identifier
		fmt.Stringer
	}
	noIdentity struct {
		onlySource
		reload.Waiter
		reload.Restorer
		fmt.Stringer
	}
	noName struct {
		onlySource
		reload.Waiter
		reload.Restorer
		reload.Identifier
	}
)

// faultyWrappers break a Wrapper in one way each, and say which subtest must fail.
var faultyWrappers = map[string]struct {
	subtest string
	plant   func(w *faultyWrapper) reload.Source
}{
	"a struct around the interface": {"Wait is passed on", func(w *faultyWrapper) reload.Source { return onlySource{w.Source} }},
	"no Wait": {"Wait is passed on", func(w *faultyWrapper) reload.Source {
		return noWait{onlySource{w.Source}, w, w, w}
	}},
	"no Restore": {"Restore is passed on", func(w *faultyWrapper) reload.Source {
		return noRestore{onlySource{w.Source}, w, w, w}
	}},
	"no Identity": {"the identity is passed on", func(w *faultyWrapper) reload.Source {
		return noIdentity{onlySource{w.Source}, w, w, w}
	}},
	"no name": {"the name is passed on", func(w *faultyWrapper) reload.Source { return noName{onlySource{w.Source}, w, w, w} }},
	"another name": {"the name is passed on", func(w *faultyWrapper) reload.Source {
		w.name = func() string { return "mine" }
		return w
	}},
	"an identity that is the name": {"the identity is passed on", func(w *faultyWrapper) reload.Source {
		w.identity = w.name
		return w
	}},
	"another identity each time": {"the identity is passed on", func(w *faultyWrapper) reload.Source {
		w.identity = func() string { return fmt.Sprintf("%p %s", w, w.Wrapper.Identity()) }
		return w
	}},
	"an identity that shows": {"the identity is passed on", func(w *faultyWrapper) reload.Source {
		w.name = func() string { return w.Wrapper.String() + w.Wrapper.Identity() }
		return w
	}},
	"a Wait with the wrapper's revision": {"Wait is passed on", func(w *faultyWrapper) reload.Source {
		w.fetch = changed(w, func(content *reload.Content) { content.Revision += " mine" })
		return w
	}},
	"a Wait without its error": {"Wait is passed on", func(w *faultyWrapper) reload.Source {
		w.wait = func(ctx context.Context, have string) error {
			w.Wrapper.Wait(ctx, have)
			return nil
		}
		return w
	}},
	"a Restore without its error": {"Restore is passed on", func(w *faultyWrapper) reload.Source {
		w.restore = func(ctx context.Context) (*reload.Content, time.Time, error) {
			content, checked, _ := w.Wrapper.Restore(ctx)
			return content, checked, nil
		}
		return w
	}},
	"a Restore without its time": {"Restore is passed on", func(w *faultyWrapper) reload.Source {
		w.restore = func(ctx context.Context) (*reload.Content, time.Time, error) {
			content, _, err := w.Wrapper.Restore(ctx)
			return content, time.Now(), err
		}
		return w
	}},
	"a Restore with other revisions": {"Restore is passed on", func(w *faultyWrapper) reload.Source {
		w.restore = func(ctx context.Context) (*reload.Content, time.Time, error) {
			content, checked, err := w.Wrapper.Restore(ctx)
			if content != nil {
				content.Revision += " restored"
			}
			return content, checked, err
		}
		return w
	}},
	"a Fetch that changes content, without a Restore": {"Restore is passed on", func(w *faultyWrapper) reload.Source {
		w.fetch = changed(w, func(content *reload.Content) { *content = *withTitle(content) })
		return w
	}},
	"another ctx for Fetch": {"the limit of bytes is passed on", func(w *faultyWrapper) reload.Source {
		w.fetch = func(_ context.Context, have string) (*reload.Content, error) {
			return w.Wrapper.Fetch(context.Background(), have)
		}
		return w
	}},
	"another ctx for Restore": {"the limit of bytes is passed on", func(w *faultyWrapper) reload.Source {
		w.restore = func(context.Context) (*reload.Content, time.Time, error) {
			return w.Wrapper.Restore(context.Background())
		}
		return w
	}},
	"the text of an error": {"an error is passed on", func(w *faultyWrapper) reload.Source {
		w.fetch = func(ctx context.Context, have string) (*reload.Content, error) {
			content, err := w.Wrapper.Fetch(ctx, have)
			if err != nil {
				err = fmt.Errorf("mine: %v", err)
			}
			return content, err
		}
		return w
	}},
	"no Verify":    {"Verify is passed on", without(func(content *reload.Content) { content.Verify = nil })},
	"no Changed":   {"Changed is passed on", without(func(content *reload.Content) { content.Changed = nil })},
	"no Published": {"Published is passed on", without(func(content *reload.Content) { content.Published = nil })},
	"no Modified":  {"Modified is passed on", without(func(content *reload.Content) { content.Modified = time.Time{} })},
	"a new Content": {"Verify is passed on", without(func(content *reload.Content) {
		*content = reload.Content{Revision: content.Revision, Size: content.Size, Body: content.Body}
	})},
	"no Close": {"each Body is closed", without(func(content *reload.Content) {
		content.Body = io.NopCloser(content.Body)
	})},
}

// changed returns a Fetch that changes the content.
func changed(w *faultyWrapper, change func(*reload.Content)) func(context.Context, string) (*reload.Content, error) {
	return func(ctx context.Context, have string) (*reload.Content, error) {
		content, err := w.Wrapper.Fetch(ctx, have)
		if err == nil {
			change(content)
		}
		return content, err
	}
}

// without returns a fault of Fetch.
func without(change func(*reload.Content)) func(*faultyWrapper) reload.Source {
	return func(w *faultyWrapper) reload.Source {
		w.fetch = changed(w, change)
		return w
	}
}

// TestPlantedWrapper runs in processes that TestSuitesFindFaults starts, where it fails.
func TestPlantedWrapper(t *testing.T) {
	fault, ok := faultyWrappers[os.Getenv(asVariable)]
	if !ok {
		t.Skip("without a fault")
	}
	reloadtest.TestWrapper(t, []byte("content"), func(_ *testing.T, source reload.Source) reload.Source {
		w := &faultyWrapper{Wrapper: reload.Wrapper{Source: source}}
		w.fetch, w.wait, w.restore = w.Wrapper.Fetch, w.Wrapper.Wait, w.Wrapper.Restore
		w.identity, w.name = w.Wrapper.Identity, w.Wrapper.String
		return fault.plant(w)
	})
}

func TestWrappersPassEverythingOn(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(reload.Source) reload.Source{
		"a Wrapper": func(source reload.Source) reload.Source { return reload.Wrapper{Source: source} },
		"two of them": func(source reload.Source) reload.Source {
			return reload.Wrapper{Source: reload.Wrapper{Source: source}}
		},
		"a Join":         func(source reload.Source) reload.Source { return reload.Join(source) },
		"a Fallback":     func(source reload.Source) reload.Source { return reload.Fallback(source) },
		"a Join of Join": func(source reload.Source) reload.Source { return reload.Join(reload.Join(source)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reloadtest.TestWrapper(t, []byte("content"), func(_ *testing.T, source reload.Source) reload.Source { return wrap(source) })
		})
	}
}
