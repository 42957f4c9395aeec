package reload_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func TestContentSHA256(t *testing.T) {
	file := filepath.Join(t.TempDir(), "table")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	joined := reload.Join(given("1", -1, "users"), given("2", 5, "roles"))
	both := sha256.New()
	for _, part := range []string{"users", "roles"} {
		sum := sha256.Sum256([]byte(part))
		both.Write(sum[:])
	}
	for name, c := range map[string]struct {
		source reload.Source
		read   int64 // by load, before it asks
		want   string
	}{
		"of a body that was read":     {given("1", 8, "one\ntwo\n"), 100, digest("one\ntwo\n")},
		"of half a body":              {given("1", -1, "one\ntwo\n"), 4, digest("one\ntwo\n")},
		"of a file that nothing read": {reload.File(file), 0, digest("one\ntwo\n")},
		"of cached content":           {reload.Cache(given("1", 3, "one"), t.TempDir()), 0, digest("one")},
		"of no bytes":                 {given("1", 0, ""), 0, digest("")},
		"of a Join":                   {joined, 7, fmt.Sprintf("%x", both.Sum(nil))},
	} {
		t.Run(name, func(t *testing.T) {
			texts, _ := newTexts()
			var kept *reload.Content
			r := reload.New(texts, c.source, func(_ context.Context, _, _ *text, content *reload.Content) error {
				kept = content
				if _, err := io.CopyN(io.Discard, content.Body, c.read); err != nil && err != io.EOF {
					return err
				}
				for range 2 { // asking changes nothing
					if sum, err := content.SHA256(); sum != c.want || err != nil {
						t.Errorf("the digest is %q, %v, want %q", sum, err, c.want)
					}
				}
				for i, part := range content.Parts {
					want := digest([]string{"users", "roles"}[i])
					if sum, err := part.SHA256(); sum != want || err != nil {
						t.Errorf("the digest of part %d is %q, %v, want %q", i, sum, err, want)
					}
				}
				return nil
			}, reload.Options{Logger: quiet})
			if err := r.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
			if sum := r.Status().SHA256; sum != c.want {
				t.Errorf("the status says %q", sum)
			}
			if sum, err := kept.SHA256(); sum != "" || err == nil {
				t.Errorf("after load the digest is %q, %v", sum, err)
			}
		})
	}
}

// A transfer that breaks is no reason to refuse the content.
func TestContentSHA256OfBrokenTransfer(t *testing.T) {
	texts, _ := newTexts()
	r := reload.New(texts, given("1", 8, "one"), func(_ context.Context, _, _ *text, content *reload.Content) error {
		sum, err := content.SHA256()
		if sum != "" || err == nil {
			t.Errorf("the digest is %q, %v", sum, err)
		}
		return err
	}, reload.Options{Logger: quiet})
	if err := failsWith(t, r, reload.Reading); err.Refused || !strings.Contains(err.Error(), "the body ends after 3 of 8 bytes") {
		t.Error(err)
	}
}

func TestContentSHA256WithoutReloader(t *testing.T) {
	content, err := given("1", 3, "one").Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := content.SHA256(); sum != "" || err == nil || !strings.Contains(err.Error(), "no Reloader") {
		t.Errorf("the digest is %q, %v", sum, err)
	}
}
