package reload_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// escapes are ways in which an origin may quote a key.
var escapes = []func(string) string{
	func(s string) string { return s },
	html.EscapeString,
	url.QueryEscape,
	url.PathEscape,
	func(s string) string {
		return regexp.MustCompile(`%..`).ReplaceAllStringFunc(url.QueryEscape(s), strings.ToLower)
	},
	func(s string) string { quoted, _ := json.Marshal(s); return string(quoted) },
}

// FuzzRedact has an origin quote a key, escaped once or twice, in a text of its own.
func FuzzRedact(f *testing.F) {
	f.Add("s3cret & key", "no such key: ", byte(1), byte(0))
	f.Add("a/b+c%d", `{"key":"`, byte(5), byte(3))
	f.Fuzz(func(t *testing.T, key, before string, inner, outer byte) {
		if len(key) < 8 || !utf8.ValidString(key) || strings.Contains(before, key) || strings.ContainsAny(before, `%&\`) {
			t.Skip("it is no secret, or text that an escape can begin in")
		}
		u := &url.URL{Scheme: "http", Host: "host", Path: "/data", RawQuery: "key=" + url.QueryEscape(key)}
		quoted := escapes[int(outer)%len(escapes)](escapes[int(inner)%len(escapes)](key))
		text := reload.Redact(before+quoted, u)
		if strings.Contains(text, key) || quoted != "" && strings.Contains(text, quoted) {
			t.Errorf("%q shows the key %q, quoted as %q", text, key, quoted)
		}
	})
}

// FuzzKept has a Cache find any record, beside honest content, when it starts.
func FuzzKept(f *testing.F) {
	public, private := key('a')
	sum := sumOf("signed")
	f.Add([]byte(`{}`), []byte("signed"))
	f.Add([]byte(`{"source":"fake","identity":"","revision":"1","sha256":"","size":6}`), []byte("forged"))
	dir := f.TempDir()
	content, signatures := new(reloadtest.Fake), new(reloadtest.Fake)
	push(content, "signed")
	signatures.Push(signed(private, "signed"))
	source := reload.VerifyEd25519(content, signatures, public)
	r, _ := start(source, dir, reload.Options{})
	if err := r.Reload(context.Background()); err != nil {
		f.Fatal(err)
	}
	honest, err := os.ReadFile(filepath.Join(dir, "kept.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(honest, []byte("signed"))
	f.Add(bytes.ReplaceAll(honest, []byte("1 |"), []byte("2 |")), []byte("forged"))
	content.Fail(errDown)
	name := fmt.Sprintf("%x", sum) + ".content"
	f.Fuzz(func(t *testing.T, record, text []byte) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "kept.json"), string(reload.Resum(record)))
		write(t, filepath.Join(dir, name), string(text))
		write(t, filepath.Join(dir, fmt.Sprintf("%x", sumOf(string(text)))+".content"), string(text))
		r, c := start(source, dir, reload.Options{})
		if err := r.Reload(t.Context()); err == nil && current(c) != "signed" {
			t.Errorf("%q was loaded from %q", current(c), record)
		}
	})
}

// FuzzResponse has an origin answer with any bytes.
func FuzzResponse(f *testing.F) {
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nETag: \"1\"\r\n\r\ngood",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08",
		"HTTP/1.1 503 Busy\r\nRetry-After: Mon, 02 Jan 2006 15:04:05 GMT\r\n\r\nkey=s3cret-key",
		"HTTP/1.1 302 Found\r\nLocation: //169.254.169.254/s3cret-key\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\r\ngood",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), r)
		})}
		source := reload.HTTP("http://host/data?key=s3cret-key", reload.HTTPOptions{Client: client})
		c, _ := newTexts()
		r := reload.New(c, source, load, reload.Options{Logger: quiet, MaxBytes: 1 << 20})
		err := r.Reload(t.Context())
		if text := everything(r, err); strings.Contains(text, "s3cret-key") {
			t.Errorf("the key is in\n%s", text)
		}
		if s := r.Status(); err == nil && (s.Version == 0 || s.Size > 1<<20) || err != nil && s.Version != 0 || len(s.Revision) > 2<<10 {
			t.Errorf("%v, and the status is %+v", err, s)
		}
	})
}

// FuzzJoinedRevisions has a Join find any revision of its sources, and be asked with
// any of its own.
func FuzzJoinedRevisions(f *testing.F) {
	f.Add("1", "2", "1 2")
	f.Add("a b", "%20", "a%20b %2520")
	f.Fuzz(func(t *testing.T, one, two, have string) {
		asked := make([]string, 2)
		of := func(i int, revision string) reload.Source {
			return sourceFunc(func(_ context.Context, have string) (*reload.Content, error) {
				if asked[i] = have; have == revision && revision != "" {
					return nil, reload.ErrNotModified
				}
				return &reload.Content{Revision: revision, Size: -1, Body: io.NopCloser(strings.NewReader(revision))}, nil
			})
		}
		join := reload.Join(of(0, one), of(1, two))
		if content, err := join.Fetch(t.Context(), have); err == nil {
			content.Body.Close()
		}
		content, err := reload.Join(of(0, one), of(1, two)).Fetch(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		content.Body.Close()
		if (content.Revision == "") != (one == "" || two == "") {
			t.Errorf("%q and %q make %q", one, two, content.Revision)
		}
		if content.Revision == "" {
			return
		}
		_, err = reload.Join(of(0, one), of(1, two)).Fetch(t.Context(), content.Revision)
		if err != reload.ErrNotModified || asked[0] != one || asked[1] != two {
			t.Errorf("%q and %q were joined as %q and asked for as %q: %v", one, two, content.Revision, asked, err)
		}
	})
}

// FuzzGzip has an origin answer with any bytes as gzip. The oracle is the gzip package
// alone, which reads them whole.
func FuzzGzip(f *testing.F) {
	const most = 20
	for _, text := range []string{"", "good", strings.Repeat("good", 1000), strings.Repeat("\x00", 1<<20+1<<16)} {
		packed := gzipped(f, text)
		f.Add(packed, false)
		f.Add(append(packed, packed...), true) // two members
		f.Add(append(packed, "rest"...), true)
		f.Add(packed[:len(packed)-1], true)
	}
	f.Fuzz(func(t *testing.T, packed []byte, bytewise bool) {
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			var body io.Reader = bytes.NewReader(packed)
			if bytewise {
				body = iotest.OneByteReader(body)
			}
			return &http.Response{
				StatusCode: http.StatusOK, ContentLength: int64(len(packed)), Body: io.NopCloser(body), Request: r,
				Header: http.Header{"Content-Encoding": {"gzip"}, "Etag": {`"1"`}},
			}, nil
		})}
		r, c := fromHTTP("http://host/", reload.HTTPOptions{Client: client, MaxExpansion: most}, reload.Options{MaxBytes: 4 << 20})
		err := r.Reload(t.Context())
		want, wantErr := unpacked(packed, 4<<20)
		switch got := current(c); {
		case err == nil && (wantErr != nil || got != string(want)):
			t.Errorf("%d bytes were published; gzip has %d, %v", len(got), len(want), wantErr)
		case err == nil && len(got) > 1<<20+most*(len(packed)+1):
			t.Errorf("%d bytes of gzip became %d", len(packed), len(got))
		case err != nil && c.Version() != 0:
			t.Errorf("published, and failed: %v", err)
		case err != nil && wantErr == nil && len(want) <= 1<<20 && len(packed) <= 1<<20 && !bytes.HasPrefix(want, []byte("bad")) && !bytes.HasPrefix(want, []byte("panic")):
			t.Errorf("good content was refused: %v", err)
		}
	})
}

// unpacked undoes gzip, up to max bytes and one more.
func unpacked(packed []byte, most int64) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(zip, most+1))
}
