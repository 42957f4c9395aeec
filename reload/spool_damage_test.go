//go:build unix

package reload_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// damage changes a file of a spool.
type damage struct {
	name string
	do   func(s *besieged, file string) error
}

// damages are what somebody who can write to a spool may do to a file of it, or to a
// name that is free.
var damages = []damage{
	{"a flipped bit", rewrite(func(r *rand.Rand, b []byte) []byte { flip(b, r); return b })},
	{"flipped bits", rewrite(func(r *rand.Rand, b []byte) []byte {
		for range 20 {
			flip(b, r)
		}
		return b
	})},
	{"a rest", rewrite(func(_ *rand.Rand, b []byte) []byte { return append(b, "and more"...) })},
	{"a short file", rewrite(func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b)+1)] })},
	{"an empty file", rewrite(func(*rand.Rand, []byte) []byte { return nil })},
	{"a long file", inPlace(func(_ *besieged, file string) error { return os.Truncate(file, 1<<40) })},
	{"another record", rewrite(changeRecord)},
	{"no file", func(_ *besieged, file string) error { return os.RemoveAll(file) }},
	{"no permission", inPlace(func(_ *besieged, file string) error { return os.Chmod(file, 0) })},
	{"another time", inPlace(func(s *besieged, file string) error {
		at := time.Unix(oneOf[int64](s.Rand, 0, 1, -1<<40, 1<<40), 0)
		return os.Chtimes(file, at, at)
	})},
	{"another file of it", func(s *besieged, file string) error { return exchange(s.any(s.dir), file) }},
	{"a file of another spool", func(s *besieged, file string) error { return copyOver(s.any(s.other), file) }},
	{"the spool of another source", func(s *besieged, _ string) error { return s.replaceBy(s.other) }},
	{"a file of yesterday", func(s *besieged, file string) error { return copyOver(s.any(s.yesterday), file) }},
	{"the spool of yesterday", func(s *besieged, _ string) error { return s.replaceBy(s.yesterday) }},

	{"a link to a file outside", link(func(s *besieged, _ string) string { return filepath.Join(s.outside, "victim") })},
	{"a link to a record outside", link(func(s *besieged, _ string) string { return filepath.Join(s.outside, "kept.json") })},
	{"a link to no file outside", link(func(s *besieged, _ string) string { return filepath.Join(s.outside, "new") })},
	{"a link to a directory outside", link(func(s *besieged, _ string) string { return s.outside })},
	{"a link to itself", link(func(_ *besieged, file string) string { return filepath.Base(file) })},
	{"a link to a device", link(func(*besieged, string) string { return "/dev/zero" })},
	{"another name of a file outside", func(s *besieged, file string) error {
		return errors.Join(os.RemoveAll(file), os.Link(filepath.Join(s.outside, "victim"), file))
	}},
	{"a FIFO", func(_ *besieged, file string) error {
		return errors.Join(os.RemoveAll(file), syscall.Mkfifo(file, 0o600))
	}},
	{"a directory", func(_ *besieged, file string) error {
		return errors.Join(os.RemoveAll(file), os.MkdirAll(filepath.Join(file, "in", "it"), 0o700))
	}},
}

// inPlace returns a damage of a regular file that has no name outside.
func inPlace(do func(*besieged, string) error) func(*besieged, string) error {
	return func(s *besieged, file string) error {
		info, err := os.Lstat(file)
		if err == nil && (!info.Mode().IsRegular() || info.Sys().(*syscall.Stat_t).Nlink > 1) {
			err = errors.New("it is another kind of file")
		}
		if err != nil {
			return err
		}
		return do(s, file)
	}
}

// rewrite returns a damage that changes the bytes of a file.
func rewrite(change func(r *rand.Rand, b []byte) []byte) func(*besieged, string) error {
	return inPlace(func(s *besieged, file string) error {
		b, err := readRegular(file)
		if err != nil {
			return err
		}
		return os.WriteFile(file, change(s.Rand, b), 0o600)
	})
}

// readRegular reads a small regular file.
func readRegular(file string) ([]byte, error) {
	info, err := os.Lstat(file)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > 1<<20) {
		err = errors.New("no file to read")
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// changeRecord changes a field of kept.json, but for its revision: it is not signed,
// and content under the revision of the newest would stay.
func changeRecord(r *rand.Rand, b []byte) []byte {
	var kept map[string]any
	if json.Unmarshal(b, &kept) != nil {
		return b
	}
	values := []any{"", 0, -1, int64(1 << 60), nil, []any{}, map[string]any{}, strings.Repeat("../", 19) + "victim", "9999-12-31T23:59:59Z"}
	name := oneOf(r, "source", "identity", "sha256", "size", "modified", "proofs")
	if kept[name] = oneOf(r, values...); r.IntN(3) == 0 {
		delete(kept, name)
	}
	b, _ = json.Marshal(kept)
	if r.IntN(4) == 0 {
		return b
	}
	return reload.Resum(b)
}

// link returns a damage that puts a symbolic link in the place of a file.
func link(to func(s *besieged, file string) string) func(*besieged, string) error {
	return func(s *besieged, file string) error {
		return errors.Join(os.RemoveAll(file), os.Symlink(to(s, file), file))
	}
}

func exchange(one, other string) error {
	return errors.Join(os.Rename(one, one+"~"), os.Rename(other, one), os.Rename(one+"~", other))
}

func copyOver(from, to string) error {
	b, err := readRegular(from)
	if err == nil {
		err = errors.Join(os.RemoveAll(to), os.WriteFile(to, b, 0o600))
	}
	return err
}

// any returns a file of a spool.
func (s *besieged) any(dir string) string {
	entries, _ := os.ReadDir(dir)
	if len(entries) == 0 {
		return filepath.Join(dir, "kept.json")
	}
	return filepath.Join(dir, entries[s.IntN(len(entries))].Name())
}

// replaceBy replaces all files of the spool by those of another.
func (s *besieged) replaceBy(dir string) error {
	s.clear()
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		err = errors.Join(err, copyOver(filepath.Join(dir, entry.Name()), filepath.Join(s.dir, entry.Name())))
	}
	return err
}

// clear empties the spool.
func (s *besieged) clear() {
	entries, _ := os.ReadDir(s.dir)
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(s.dir, entry.Name())); err != nil {
			s.Error(err)
		}
	}
}

// filesOf returns the names, kinds, times and content of all files below a directory.
func filesOf(dir string) string {
	var all bytes.Buffer
	filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		info, statErr := os.Lstat(path)
		if statErr == nil {
			content, _ := readRegular(path)
			all.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + " " + string(content) + "\n")
		}
		return errors.Join(err, statErr)
	})
	return all.String()
}
