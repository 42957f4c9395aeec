package reload_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// spool is the directory of a Cache that somebody else can write to.
type spool struct {
	t   *testing.T
	dir string
}

func (s spool) keptName() string { return filepath.Join(s.dir, "kept.json") }

// file returns the name of the kept content.
func (s spool) file() string {
	names, err := filepath.Glob(filepath.Join(s.dir, "*.content"))
	if err != nil || len(names) != 1 {
		s.t.Fatalf("the spool has %q, %v", names, err)
	}
	return names[0]
}

// put replaces the content, with a record of its digest.
func (s spool) put(content string) {
	write(s.t, s.file(), content)
	name := fmt.Sprintf("%x", sumOf(content))
	if err := os.Rename(s.file(), filepath.Join(s.dir, name+".content")); err != nil {
		s.t.Fatal(err)
	}
	s.record(func(kept map[string]any) { kept["sha256"], kept["size"] = name, len(content) })
}

// read returns kept.json.
func (s spool) read() map[string]any {
	text, err := os.ReadFile(s.keptName())
	kept := make(map[string]any)
	if err = errors.Join(err, json.Unmarshal(text, &kept)); err != nil {
		s.t.Fatal(err)
	}
	return kept
}

// record changes kept.json.
func (s spool) record(change func(kept map[string]any)) {
	kept := s.read()
	change(kept)
	text, err := json.Marshal(kept)
	if err != nil {
		s.t.Fatal(err)
	}
	write(s.t, s.keptName(), string(reload.Resum(text)))
}

func proofs(signatures ...[]byte) (all []string) {
	for _, signature := range signatures {
		all = append(all, base64.StdEncoding.EncodeToString(signature))
	}
	return all
}

// TestChangedSpoolIsNotServed changes the spool of signed content between two
// processes. The origin of the second is down, and then up with newer content.
func TestChangedSpoolIsNotServed(t *testing.T) {
	t.Parallel()
	public, private := key('a')
	_, foreign := key('b')
	for name, test := range map[string]struct {
		change func(s spool)
		loads  string // while the origin is down
	}{
		"nothing": {func(spool) {}, "signed"},
		"content": {func(s spool) { s.put("forged") }, ""},
		"content and signature": {func(s spool) {
			s.put("forged")
			s.record(func(kept map[string]any) { kept["proofs"] = proofs(signed(foreign, "forged")) })
		}, ""},
		"content without a signature": {func(s spool) {
			s.put("forged")
			s.record(func(kept map[string]any) { delete(kept, "proofs") })
		}, ""},
		"content with a digest for a signature": {func(s spool) {
			s.put("forged")
			sum := sumOf("forged")
			s.record(func(kept map[string]any) { kept["proofs"] = proofs(sum[:]) })
		}, ""},
		"one signature more": {func(s spool) {
			s.put("forged")
			s.record(func(kept map[string]any) {
				kept["proofs"] = proofs(signed(private, "signed"), signed(foreign, "forged"))
			})
		}, ""},
		"the revision, for that of newer content": {func(s spool) {
			s.record(func(kept map[string]any) { kept["revision"] = checkedRevision("2", string(signed(private, "newer"))) })
		}, ""},
		"the revision, for none": {func(s spool) {
			s.record(func(kept map[string]any) { kept["revision"] = "" })
		}, "signed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, content, signatures := t.TempDir(), new(reloadtest.Fake), new(reloadtest.Fake)
			source := reload.VerifyEd25519(content, signatures, public)
			push(content, "signed")
			signatures.Push(signed(private, "signed"))
			cacheRestarts(t, source, dir, "signed")
			test.change(spool{t, dir})

			content.Fail(errDown)
			signatures.Fail(errDown)
			r, c := start(reload.VerifyEd25519(content, signatures, public), dir, reload.Options{})
			if err := r.Reload(t.Context()); (err == nil) != (test.loads != "") {
				t.Errorf("with %s changed: %v", name, err)
			}
			is(t, c, test.loads)

			push(content, "newer")
			signatures.Push(signed(private, "newer"))
			succeeds(t, r, c, "newer")
		})
	}
}

// TestSpoolChangedDuringLoad changes the file after it was verified.
func TestSpoolChangedDuringLoad(t *testing.T) {
	t.Parallel()
	for name, restarts := range map[string]bool{"fetched content": false, "kept content": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, fake := t.TempDir(), new(reloadtest.Fake)
			push(fake, "honest")
			if restarts {
				cacheRestarts(t, fake, dir, "honest")
				fake.Fail(errDown)
			}
			c, _ := newTexts()
			r := reload.New(c, reload.Cache(fake, dir), func(ctx context.Context, next, current *text, content *reload.Content) error {
				write(t, spool{t, dir}.file(), "forged")
				return load(ctx, next, current, content)
			}, reload.Options{Logger: quiet})
			if err := r.Reload(t.Context()); err == nil {
				t.Error("changed content was loaded")
			}
			is(t, c, "")
			fake.Fail(nil)
			push(fake, "newer")
			succeeds(t, reload.New(c, reload.Cache(fake, dir), load, reload.Options{Logger: quiet}), c, "newer")
		})
	}
}

// TestLoadSeesVerifiedContentAlone has a Cache verify the whole file before load.
func TestLoadSeesVerifiedContentAlone(t *testing.T) {
	t.Parallel()
	public, private := key('a')
	content, signatures := new(reloadtest.Fake), new(reloadtest.Fake)
	c, _ := newTexts()
	loads := 0
	r := reload.New(c, reload.Join(reload.Cache(reload.VerifyEd25519(content, signatures, public), t.TempDir())), func(ctx context.Context, next, current *text, content *reload.Content) error {
		loads++
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet})
	push(content, "forged")
	signatures.Push(signed(private, "signed"))
	for i := range 2 {
		if failure := failsWith(t, r, reload.Verifying); failure.Refused || loads != 0 {
			t.Errorf("attempt %d, %d loads: %v", i, loads, failure)
		}
	}
	push(content, "signed")
	succeeds(t, r, c, "signed")
	if loads != 1 {
		t.Errorf("%d loads", loads)
	}
}

// TestSpoolIsPrivate has Cache make its directory for one user.
func TestSpoolIsPrivate(t *testing.T) {
	t.Parallel()
	dir, fake := filepath.Join(t.TempDir(), "spool"), new(reloadtest.Fake)
	push(fake, "good")
	cacheRestarts(t, fake, dir, "good")
	info, err := os.Stat(dir)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

// rewrapped is a Source of a user's own around another.
type rewrapped struct{ reload.Source }

// TestHiddenCheckWithinCache wraps a check, so that the Cache cannot repeat it.
func TestHiddenCheckWithinCache(t *testing.T) {
	t.Parallel()
	public, private := key('a')
	content, signatures := new(reloadtest.Fake), new(reloadtest.Fake)
	push(content, "signed")
	signatures.Push(signed(private, "signed"))
	for name, source := range map[string]reload.Source{
		"a wrapper":                    rewrapped{reload.VerifyEd25519(content, signatures, public)},
		"a wrapper between two checks": reload.VerifyEd25519(rewrapped{reload.VerifyEd25519(content, signatures, public)}, signatures, public),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c := start(source, t.TempDir(), reload.Options{})
			if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), "put your own Source inside") {
				t.Error(failure)
			}
			is(t, c, "")
		})
	}
	r, c := start(reload.VerifyEd25519(rewrapped{content}, signatures, public), t.TempDir(), reload.Options{})
	succeeds(t, r, c, "signed")
}

// TestSignedChecksum has a signature of the checksum, not of the content.
func TestSignedChecksum(t *testing.T) {
	t.Parallel()
	public, private := key('a')
	_, foreign := key('b')
	sumText := func(content string) string { return fmt.Sprintf("%x", sumOf(content)) }
	content, sums, signatures := new(reloadtest.Fake), new(reloadtest.Fake), new(reloadtest.Fake)
	source := reload.VerifySHA256(content, reload.VerifyEd25519(sums, signatures, public))
	serve := func(text string, private ed25519.PrivateKey) {
		push(content, "%s", text)
		push(sums, "%s", sumText(text))
		signatures.Push(signed(private, sumText(text)))
	}
	dir := t.TempDir()
	serve("forged", foreign)
	for _, source := range []reload.Source{source, reload.Cache(source, dir), reload.VerifySHA256(content, reload.Join(sums))} {
		c, _ := newTexts()
		failsWith(t, reload.New(c, source, load, reload.Options{Logger: quiet}), reload.Fetching)
		is(t, c, "")
	}
	serve("honest", private)
	cacheRestarts(t, source, dir, "honest")

	content.Fail(errDown)
	sums.Fail(errDown)
	signatures.Fail(errDown)
	cacheRestarts(t, source, dir, "honest")
	for name, proofs := range map[string][]string{
		"the signature of before": proofs(signed(private, sumText("honest")), []byte(sumText("forged"))),
		"a foreign signature":     proofs(signed(foreign, sumText("forged")), []byte(sumText("forged"))),
		"no signature":            proofs([]byte(sumText("forged"))),
	} {
		t.Log(name)
		s := spool{t, dir}
		s.put("forged")
		s.record(func(kept map[string]any) { kept["revision"], kept["proofs"] = "", proofs })
		r, c := start(source, dir, reload.Options{})
		failsWith(t, r, reload.Fetching)
		is(t, c, "")
	}
}

// TestCacheOfHiddenReloader gives a Cache the ctx of another Reloader, which allows
// less.
func TestCacheOfHiddenReloader(t *testing.T) {
	t.Parallel()
	var other context.Context
	c, _ := newTexts()
	reload.New(c, sourceFunc(func(ctx context.Context, _ string) (*reload.Content, error) {
		other = context.WithoutCancel(ctx) //nolint:fatcontext // for another Reloader
		return nil, errDown
	}), load, reload.Options{Logger: quiet, MaxBytes: 10}).Reload(t.Context())
	cache := reload.Cache(given("1", -1, "more than ten"), t.TempDir())
	r := reload.New(c, sourceFunc(func(_ context.Context, have string) (*reload.Content, error) {
		return cache.Fetch(other, have)
	}), load, reload.Options{Logger: quiet, MaxBytes: 100})
	failsWith(t, r, reload.Reading)
	is(t, c, "")
}

// TestRecordOfSpoolIsNotQuoted fills kept.json. No error shows more than its start, and
// no file is read that cannot be the content.
func TestRecordOfSpoolIsNotQuoted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 900_000)
	for name, change := range map[string]func(s spool){
		"the source":    func(s spool) { s.record(func(kept map[string]any) { kept["source"] = long }) },
		"the digest":    func(s spool) { s.record(func(kept map[string]any) { kept["sha256"] = long }) },
		"the time":      func(s spool) { s.record(func(kept map[string]any) { kept["modified"] = long }) },
		"a huge number": func(s spool) { write(s.t, s.keptName(), `{"size": 1`+strings.Repeat("0", 900_000)+"}") },
		"a huge file": func(s spool) {
			if err := os.Truncate(s.file(), 1<<40); err != nil {
				s.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, fake, _, _ := cacheKept(t, "good")
			change(spool{t, dir})
			fake.Fail(errDown)
			r, c := start(fake, dir, reload.Options{})
			if failure := failsWith(t, r, reload.Fetching); len(failure.Error()) > 1000 {
				t.Errorf("an error of %d bytes: %.200s", len(failure.Error()), failure)
			}
			is(t, c, "")
		})
	}
}

// TestKeptContentIsNotHashedInVain has a record of more than MaxBytes, and of more deltas
// than a Cache keeps. It opens and hashes none of them: that could take all the time and
// files of the service.
func TestKeptContentIsNotHashedInVain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(kept map[string]any)
		want   string
	}{
		"more bytes": {func(kept map[string]any) { kept["size"] = int64(reload.DefaultMaxBytes + 1) }, "larger than Options.MaxBytes"},
		"more bytes together": {func(kept map[string]any) {
			delta := maps.Clone(kept)
			delete(delta, "source")
			kept["size"] = int64(reload.DefaultMaxBytes - 3)
			kept["deltas"] = []any{delta}
		}, "larger than Options.MaxBytes"},
		"more deltas": {func(kept map[string]any) {
			delta := map[string]any{"revision": kept["revision"], "sha256": kept["sha256"], "size": 4}
			kept["deltas"] = slices.Repeat([]any{delta}, 1000)
		}, "1000 deltas"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, fake, _, _ := cacheKept(t, "good")
			s := spool{t, dir}
			s.record(test.change)
			if name != "more deltas" {
				kept := s.read()
				if err := os.Truncate(s.file(), int64(kept["size"].(float64))); err != nil { // a hole, which takes no room
					t.Skip(err)
				}
			}
			content, _, err := reload.Cache(fake, dir).(reload.Restorer).Restore(t.Context())
			if content != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Restore returned content: %t, and the error %v", content != nil, err)
			}
		})
	}
}

// TestTextsThatAreNoUTF8: JSON cannot keep the name of a source or a revision that has
// other bytes.
func TestTextsThatAreNoUTF8(t *testing.T) {
	t.Parallel()
	t.Run("the name is kept as far as it can be shown", func(t *testing.T) {
		t.Parallel()
		fake, dir := new(reloadtest.Fake), t.TempDir()
		push(fake, "good")
		source := named{fake, "caf\xe9.txt"}
		cacheRestarts(t, source, dir, "good")
		fake.Fail(errDown)
		cacheRestarts(t, source, dir, "good")
		r, c := start(named{fake, "caf\xe8.txt"}, dir, reload.Options{})
		failsWith(t, r, reload.Fetching)
		is(t, c, "")
	})
	t.Run("content of such a revision is not kept, and a warning says so", func(t *testing.T) {
		t.Parallel()
		var lines logs
		dir := t.TempDir()
		c, _ := newTexts()
		source := given("caf\xe9", -1, "good")
		r := reload.New(c, reload.Cache(source, dir), load, reload.Options{Logger: lines.logger(slog.LevelWarn)})
		succeeds(t, r, c, "good")
		if all := strings.Join(lines.all(), "\n"); !strings.Contains(all, "it is not kept: its revision is no UTF-8") {
			t.Errorf("the log is %s", all)
		}
		if names := filesIn(t, dir); len(names) > 0 {
			t.Errorf("the directory has %q", names)
		}
	})
}
