package watch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// configMap is the mount of a ConfigMap with users.txt and roles.txt, which change as
// the kubelet changes them.
type configMap struct {
	dir     string
	version *int
}

func newConfigMap(t *testing.T) configMap { return configMap{t.TempDir(), new(int)} }

// Put writes a directory with both files, swaps the link to it, and removes the one
// before. A file's name is a link behind that link.
func (c configMap) Put(t testing.TB, content []byte) {
	t.Helper()
	old, _ := os.Readlink(filepath.Join(c.dir, "..data"))
	*c.version++
	version := fmt.Sprintf("..2026_05_04_03_02_01.%d", *c.version)
	write := func(name string) error {
		return os.WriteFile(filepath.Join(c.dir, version, name), content, 0o644)
	}
	link := func(name string) error {
		err := os.Symlink(filepath.Join("..data", name), filepath.Join(c.dir, name))
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
		return err
	}
	if err := errors.Join(
		os.Mkdir(filepath.Join(c.dir, version), 0o755), write("users.txt"), write("roles.txt"),
		os.Symlink(version, filepath.Join(c.dir, "..data_tmp")),
		os.Rename(filepath.Join(c.dir, "..data_tmp"), filepath.Join(c.dir, "..data")),
		link("users.txt"), link("roles.txt"),
	); err != nil {
		t.Fatal(err)
	}
	if old != "" {
		if err := os.RemoveAll(filepath.Join(c.dir, old)); err != nil {
			t.Fatal(err)
		}
	}
}

// Remove removes the files' names, as for a ConfigMap without data.
func (c configMap) Remove(t testing.TB) {
	t.Helper()
	if err := errors.Join(os.Remove(filepath.Join(c.dir, "users.txt")), os.Remove(filepath.Join(c.dir, "roles.txt"))); err != nil {
		t.Fatal(err)
	}
}

// Expect implements reloadtest.Expecter.
func (c configMap) Expect(content []byte) []byte { return slices.Concat(content, content) }

func TestAConfigMapConforms(t *testing.T) {
	reloadtest.TestSource(t, func(t *testing.T) (reload.Source, reloadtest.Origin) {
		c := newConfigMap(t)
		return accounts(newWatcher(t), c.dir), c
	})
}

func TestASwapOfAConfigMapIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	c := newConfigMap(t)
	c.Put(t, []byte("one "))
	texts := followingSource(t, accounts(newWatcher(t), c.dir))
	becomes(t, texts, "one one ")
	for range 3 {
		c.Put(t, []byte("two "))
		becomes(t, texts, "two two ")
		c.Put(t, []byte("three "))
		becomes(t, texts, "three three ")
	}
}

// meanwhile is a Source that calls do before its next Fetch.
type meanwhile struct {
	reload.Source
	do func() error
}

func (m *meanwhile) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	if do := m.do; do != nil {
		m.do = nil
		if err := do(); err != nil {
			return nil, err
		}
	}
	return m.Source.Fetch(ctx, have)
}

// A swap between the two files is not seen by a Join, but by mounted.
func TestASwapBetweenTwoFilesMixesNothing(t *testing.T) {
	t.Parallel()
	c := newConfigMap(t)
	c.Put(t, []byte("one "))
	second := &meanwhile{Source: reload.File(filepath.Join(c.dir, "roles.txt"))}
	join := reload.Join(reload.File(filepath.Join(c.dir, "users.txt")), second)
	swap := func() error { c.Put(t, []byte("two ")); return nil }

	second.do = swap
	if text := textOf(t, join); text != "one two " {
		t.Errorf("a Join alone returned %q: the test swaps at the wrong time", text)
	}

	source := mounted{reload.Wrapper{Source: join}, c.dir}
	for _, do := range []func() error{swap, func() error { return errors.Join(swap(), fs.ErrNotExist) }} {
		second.do = do
		if content, err := source.Fetch(t.Context(), ""); !errors.Is(err, reload.ErrChanged) || content != nil {
			t.Errorf("Fetch returned %v and %v", content, err)
		}
		if text := textOf(t, source); text != "two two " {
			t.Errorf("then it returned %q", text)
		}
	}

	c.Put(t, []byte("one "))
	second.do = swap
	texts, reloader := newReloader(source)
	if err := reloader.Reload(t.Context()); err != nil { // reads again
		t.Error(err)
	}
	texts.WithAcquire(func(obj *text) {
		if obj.value != "two two " {
			t.Errorf("published %q", obj.value)
		}
	})
}

// textOf returns the content of a Source.
func textOf(t *testing.T, source reload.Source) string {
	t.Helper()
	content, err := source.Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer content.Body.Close()
	all, err := io.ReadAll(content.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// Files that were opened stay whole, though the kubelet has removed their directory.
func TestASwapUnderTheReaderMixesNothing(t *testing.T) {
	t.Parallel()
	c := newConfigMap(t)
	c.Put(t, []byte("one "))
	content, err := accounts(newWatcher(t), c.dir).Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer content.Body.Close()
	c.Put(t, []byte("two "))
	if all, err := io.ReadAll(content.Body); err != nil || string(all) != "one one " {
		t.Errorf("read %q: %v", all, err)
	}
}
