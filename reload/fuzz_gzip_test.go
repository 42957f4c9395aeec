package reload_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/poolswap/poolswap/reload"
)

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
