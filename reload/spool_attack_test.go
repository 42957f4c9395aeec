//go:build unix

package reload_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

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
