//go:build unix

package reload_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// TestAttackedSpool has somebody change the directory of a Cache while the service runs,
// while load reads, and between two starts. Readers get content that the source had, or
// that was signed where a signature is asked for. It may be of yesterday until the
// origin answers: that was signed, too. Nothing outside the directory changes.
func TestAttackedSpool(t *testing.T) {
	t.Parallel()
	n, seed := attacks(t, 300)
	r := rand.New(rand.NewPCG(seed, 0))
	dir, seen := inMemory(t), map[string]int{}
	for i := 0; i*attacksOfCampaign < n && !t.Failed(); i++ {
		s := besiege(t, rand.New(rand.NewPCG(r.Uint64(), 0)), filepath.Join(dir, strconv.Itoa(i)))
		for range min(n, attacksOfCampaign) {
			s.attack(seen)
		}
	}
	t.Log(seen)
	for _, how := range []string{"kept content was loaded", "nothing was loaded", "new content was loaded", "an attempt failed"} {
		if seen[how] == 0 {
			t.Errorf("%s %d times", how, seen[how])
		}
	}
}

// besieged is a service with a Cache to whose directory somebody else can write.
type besieged struct {
	*testing.T
	*rand.Rand

	dir, other, yesterday, outside string
	fake, signatures               *reloadtest.Fake
	source                         reload.Source
	private                        ed25519.PrivateKey
	allowed                        map[string]bool
	release                        int
	during                         func() // is called by load

	texts    *texts
	reloader *reload.Reloader
}

// besiege returns a service whose Cache has kept content, with the spool of another
// service, one of yesterday, and a directory that nothing may change.
func besiege(t *testing.T, r *rand.Rand, dir string) *besieged {
	t.Helper()
	s := &besieged{
		T: t, Rand: r, dir: filepath.Join(dir, "spool"), other: filepath.Join(dir, "other"), outside: filepath.Join(dir, "outside"),
		fake: new(reloadtest.Fake), signatures: new(reloadtest.Fake), allowed: map[string]bool{},
	}
	s.source = s.fake
	public, private := key('a')
	if r.IntN(2) == 0 {
		s.private = private
		s.source = reload.VerifySigned(s.fake, s.signatures, "deny", public)
	}
	other, signatures := new(reloadtest.Fake), new(reloadtest.Fake)
	push(other, "other")
	signatures.Push(ed25519.Sign(private, reload.Statement("allow", sumOf("other"))))
	cacheRestarts(t, named{reload.VerifySigned(other, signatures, "allow", public), "other"}.Source, s.other, "other")

	s.publish()
	s.start()
	if err := s.reloader.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.yesterday = filepath.Join(dir, "yesterday")
	if err := os.CopyFS(s.yesterday, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(s.outside, os.DirFS(s.other)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.outside, "victim"), "nobody may change this")
	return s
}

// publish has the origin publish a release, and ends its failures.
func (s *besieged) publish() {
	s.release++
	content := fmt.Sprintf("release %d %s", s.release, strings.Repeat("row ", s.IntN(1000)))
	s.allowed[content] = true
	push(s.fake, "%s", content)
	if s.private != nil {
		s.signatures.Push(ed25519.Sign(s.private, reload.Statement("deny", sumOf(content))))
	}
}

// start starts the service, or starts it again.
func (s *besieged) start() {
	s.texts, _ = newTexts()
	s.reloader = reload.New(s.texts, reload.Cache(s.source, s.dir), func(ctx context.Context, next, current *text, content *reload.Content) error {
		if s.during != nil {
			s.during()
		}
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet})
}

// attack damages a file at some time, and makes an attempt.
func (s *besieged) attack(seen map[string]int) {
	before := filesOf(s.outside) + filesOf(s.other)
	d, file := oneOf(s.Rand, damages...), s.any(s.dir)
	if s.IntN(8) == 0 {
		file = filepath.Join(s.dir, oneOf(s.Rand, "x.part", strings.Repeat("0", 64)+".content", "kept.json", "other", "lock"))
	}
	text := fmt.Sprintf("%s in the place of %s", d.name, filepath.Base(file))
	damage := func() {
		if err := d.do(s, file); err != nil {
			text += fmt.Sprintf(", which failed: %v", err)
		}
	}
	up, newer, started := s.IntN(2) == 0, false, false
	if s.IntN(3) == 0 {
		s.publish()
		newer = true
	}
	if !up {
		s.fake.Fail(errDown)
	}
	switch s.IntN(3) {
	case 0:
		damage()
	case 1:
		text += " during load"
		s.during = damage
	case 2:
		damage()
		s.start()
		started = true
	}
	version := s.texts.Version()
	err := s.reloader.Reload(s.Context())
	s.during = nil
	s.fake.Fail(nil)
	got := current(s.texts)
	switch {
	case err != nil:
		seen["an attempt failed"]++
	case started && !up:
		seen["kept content was loaded"]++
	case newer:
		seen["new content was loaded"]++
	}
	if got == "" {
		seen["nothing was loaded"]++
	}
	fault := func(format string, args ...any) {
		s.Errorf("after %s (up: %v, signed: %v): %s\nthe error: %v", text, up, s.private != nil, fmt.Sprintf(format, args...), err)
	}
	if got != "" && !s.allowed[got] || got == "" && version != 0 && !started {
		fault("readers get %.60q", got)
	}
	if st := s.reloader.Status(); up && err == nil && st.Refused == "" && st.Stale == nil && !strings.HasPrefix(got, fmt.Sprintf("release %d ", s.release)) {
		fault("readers get %.60q as the newest", got)
	}
	if err != nil && len(err.Error()) > 4<<10 {
		fault("an error of %d bytes", len(err.Error()))
	}
	if text := everything(s.reloader); !strings.Contains(text, `"state"`) {
		fault("the status is %s", text)
	}
	if after := filesOf(s.outside) + filesOf(s.other); after != before {
		fault("files outside have changed:\n%s\n%s", before, after)
	}
	if s.IntN(4) == 0 {
		s.leave(text)
	}
	if s.Failed() {
		s.FailNow()
	}
}

// leave has the attacker leave, with or without a trace. A name that a directory has
// taken stays taken.
func (s *besieged) leave(last string) {
	s.clear()
	s.publish()
	if s.IntN(2) == 0 {
		s.start()
	}
	if err := s.reloader.Reload(s.Context()); err != nil || !strings.HasPrefix(current(s.texts), fmt.Sprintf("release %d ", s.release)) {
		s.Errorf("without the attacker: %v, and readers get %.60q; before, it was %s", err, current(s.texts), last)
	}
	kinds := map[string]int{}
	entries, _ := os.ReadDir(s.dir)
	for _, entry := range entries {
		kinds[filepath.Ext(entry.Name())]++
	}
	if len(entries)-kinds[""] != 2 || kinds[".json"] != 1 || kinds[".content"] != 1 {
		s.Errorf("the spool has %v", kinds)
	}
}

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
