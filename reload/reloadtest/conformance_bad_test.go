package reloadtest_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// faultySource is a Fake with a fault.
type faultySource struct {
	*reloadtest.Fake
	fetch func(ctx context.Context, have string) (*reload.Content, error)
	wait  func(ctx context.Context, have string) error
}

func (s faultySource) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	return s.fetch(ctx, have)
}

func (s faultySource) Wait(ctx context.Context, have string) error { return s.wait(ctx, have) }

// closingWith is a body whose Close fails before its end was read.
type closingWith struct {
	io.ReadCloser
	whole bool
}

func (c *closingWith) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.whole = c.whole || err == io.EOF
	return n, err
}

func (c *closingWith) Close() error {
	err := c.ReadCloser.Close()
	if !c.whole {
		return errors.New("unread")
	}
	return err
}

// faultySources breaks a Fake in one way each, and says which subtest must fail.
var faultySources = map[string]struct {
	subtest string
	plant   func(t *testing.T, s *faultySource)
}{
	"a wrong Size": {"Fetch returns the content", changeAfter(func(_ *testing.T, content *reload.Content) { content.Size++ })},
	"another File": {"Fetch returns the content", changeAfter(func(t *testing.T, content *reload.Content) {
		file, err := os.Create(filepath.Join(t.TempDir(), "other"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		content.File = file
	})},
	"no ErrNotModified": {"Fetch with the newest revision says ErrNotModified", func(_ *testing.T, s *faultySource) {
		s.fetch = func(ctx context.Context, _ string) (*reload.Content, error) { return s.Fake.Fetch(ctx, "") }
	}},
	"blind to changes": {"each change shows", func(_ *testing.T, s *faultySource) {
		s.fetch = func(ctx context.Context, have string) (*reload.Content, error) {
			if have != "" {
				return nil, reload.ErrNotModified
			}
			return s.Fake.Fetch(ctx, "")
		}
	}},
	"revisions in an order": {"old content that is restored is fetched", func(_ *testing.T, s *faultySource) {
		s.fetch = func(ctx context.Context, have string) (*reload.Content, error) {
			content, err := s.Fake.Fetch(ctx, "")
			if err == nil && content.Revision == "3" && have == "2" { // older than the revision before
				return nil, errors.Join(reload.ErrNotModified, content.Body.Close())
			}
			return content, err
		}
	}},
	"foreign revisions are an error": {"Fetch with a foreign revision returns the content", func(_ *testing.T, s *faultySource) {
		s.fetch = func(ctx context.Context, have string) (*reload.Content, error) {
			if len(have) > 10 {
				return nil, errors.New("no such revision")
			}
			return s.Fake.Fetch(ctx, have)
		}
	}},
	"a Close that fails": {"a body that is not read can be closed", changeAfter(func(_ *testing.T, content *reload.Content) {
		content.Body = &closingWith{ReadCloser: content.Body}
	})},
	"a part with a wrong Size": {"the Parts make up the Body", changeAfter(func(_ *testing.T, content *reload.Content) {
		content.Parts = []*reload.Content{{Size: content.Size + 1, Body: content.Body}}
	})},
	"a part without its end": {"the Parts make up the Body", changeAfter(func(_ *testing.T, content *reload.Content) {
		content.Parts = []*reload.Content{{Size: -1, Body: io.NopCloser(io.LimitReader(content.Body, content.Size-1))}}
	})},
	"a Verify beside Parts": {"the Parts make up the Body", changeAfter(func(_ *testing.T, content *reload.Content) {
		content.Parts = []*reload.Content{{Size: content.Size, Body: content.Body}}
		content.Verify = func([32]byte) error { return nil }
	})},
	"missing content is not modified": {"a Fetch fails while there is no content, and recovers", func(_ *testing.T, s *faultySource) {
		s.fetch = func(ctx context.Context, have string) (*reload.Content, error) {
			content, err := s.Fake.Fetch(ctx, have)
			if errors.Is(err, reloadtest.ErrEmpty) {
				err = reload.ErrNotModified
			}
			return content, err
		}
	}},
	"another error for an ended ctx": {"a Fetch with a ctx that has ended fails", func(_ *testing.T, s *faultySource) {
		s.fetch = func(ctx context.Context, have string) (*reload.Content, error) {
			if ctx.Err() != nil {
				return nil, errors.New("stopped")
			}
			return s.Fake.Fetch(ctx, have)
		}
	}},
	"other bytes from the second Fetch on": {"Fetches run side by side", func(_ *testing.T, s *faultySource) {
		var open atomic.Int32
		s.fetch = func(ctx context.Context, have string) (*reload.Content, error) {
			content, err := s.Fake.Fetch(ctx, have)
			if open.Add(1) > 1 && err == nil {
				content.Body = io.NopCloser(strings.NewReader("torn"))
			}
			return content, err
		}
	}},
	"a Wait that ends otherwise": {"Wait ends with its ctx", func(_ *testing.T, s *faultySource) {
		s.wait = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return errors.New("stopped")
		}
	}},
}

func changeAfter(change func(*testing.T, *reload.Content)) func(*testing.T, *faultySource) {
	return func(t *testing.T, s *faultySource) {
		s.fetch = func(ctx context.Context, have string) (*reload.Content, error) {
			content, err := s.Fake.Fetch(ctx, have)
			if err == nil {
				change(t, content)
			}
			return content, err
		}
	}
}

const asVariable = "POOLSWAP_TEST_CHILD"

// TestPlantedSource runs in processes that TestSuitesFindFaults starts, where it fails.
func TestPlantedSource(t *testing.T) {
	fault, ok := faultySources[os.Getenv(asVariable)]
	if !ok {
		t.Skip("without a fault")
	}
	reloadtest.TestSource(t, func(t *testing.T) (reload.Source, reloadtest.Origin) {
		s := &faultySource{Fake: new(reloadtest.Fake)}
		s.fetch, s.wait = s.Fake.Fetch, s.Fake.Wait
		fault.plant(t, s)
		return s, s.Fake
	})
}

// Each subtest of a suite fails for a source with the fault that it is for.
func TestSuitesFindFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range faultySources {
		t.Run(name, func(t *testing.T) { mustFail(t, "TestPlantedSource", name, fault.subtest) })
	}
	for name, fault := range faultyWrappers {
		t.Run(name, func(t *testing.T) { mustFail(t, "TestPlantedWrapper", name, fault.subtest) })
	}
}

// mustFail runs a test with a fault in a process of its own. A subtest must fail.
func mustFail(t *testing.T, test, fault, subtest string) {
	t.Parallel()
	command := exec.Command(os.Args[0], "-test.run=^"+test+"$")
	command.Env = append(os.Environ(), asVariable+"="+fault)
	output, err := command.CombinedOutput()
	var failed *exec.ExitError
	if want := "--- FAIL: " + test + "/" + strings.ReplaceAll(subtest, " ", "_"); !errors.As(err, &failed) || !strings.Contains(string(output), want) {
		t.Errorf("the suite ends with %v and does not say %q:\n%s", err, want, output)
	}
}
