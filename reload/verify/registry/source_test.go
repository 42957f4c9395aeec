package registry_test

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/oci"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

func TestATagConforms(t *testing.T) {
	reloadtest.TestSource(t, func(t *testing.T) (reload.Source, reloadtest.Origin) {
		r := newRegistry(t, nil, nil)
		return r.source("stable"), origin{r}
	})
}

func TestContentIsThatOfTheArtifact(t *testing.T) {
	r := newRegistry(t, nil, nil)
	manifest := r.push(t, "stable", table("one"))
	source := r.source("stable")
	content, text := read(t, source, "")
	if text != "one" || content.Size != 3 || content.Revision != manifest.Digest.String() || !content.Modified.Equal(created) {
		t.Errorf("%q with size %d, revision %s, made at %v", text, content.Size, content.Revision, content.Modified)
	}
	if got := source.(interface{ String() string }).String(); got != r.name("stable") {
		t.Errorf("its name is %s", got)
	}
}

func TestAnIdlePollIsOneRequest(t *testing.T) {
	r := newRegistry(t, nil, nil)
	r.push(t, "stable", table("one"))
	source := r.source("stable")
	content, _ := read(t, source, "")
	before := r.requests.Load()
	if _, err := source.Fetch(t.Context(), content.Revision); !errors.Is(err, reload.ErrNotModified) {
		t.Errorf("the error is %v", err)
	}
	if n := r.requests.Load() - before; n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestADigestIsFetchedOnce(t *testing.T) {
	r := newRegistry(t, nil, nil)
	manifest := r.push(t, "stable", table("one"))
	r.push(t, "stable", table("two"))
	source := r.source("@" + manifest.Digest.String())
	content, text := read(t, source, "")
	if text != "one" {
		t.Errorf("the content is %q", text)
	}
	before := r.requests.Load()
	if _, err := source.Fetch(t.Context(), content.Revision); !errors.Is(err, reload.ErrNotModified) || r.requests.Load() != before {
		t.Errorf("the error is %v, after %d requests", err, r.requests.Load()-before)
	}
}

func TestWithoutATagItIsLatest(t *testing.T) {
	r := newRegistry(t, nil, nil)
	r.push(t, "latest", table("newest"))
	if _, text := read(t, oci.Source(strings.TrimSuffix(r.name("latest"), ":latest"), r.options()), ""); text != "newest" {
		t.Errorf("the content is %q", text)
	}
}

// A tag that moves while the layer is read mixes nothing.
func TestATagThatMovesMeanwhile(t *testing.T) {
	r := newRegistry(t, nil, nil)
	long := strings.Repeat("0123456789abcdef", 1<<16)
	r.push(t, "stable", table(long))
	source := r.source("stable")
	content, err := source.Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer content.Body.Close()
	start := make([]byte, 10)
	if _, err := io.ReadFull(content.Body, start); err != nil {
		t.Fatal(err)
	}
	r.push(t, "stable", table("two"))
	rest, err := io.ReadAll(content.Body)
	if text := string(start) + string(rest); err != nil || text != long {
		t.Errorf("read %d bytes (%v), want the %d of the old artifact", len(text), err, len(long))
	}
	if _, text := read(t, source, content.Revision); text != "two" {
		t.Errorf("then the content is %q", text)
	}
}

func TestLayersAreChosen(t *testing.T) {
	r := newRegistry(t, nil, nil)
	r.push(t, "several", layer{"users.txt", "text/plain", "users"}, layer{"roles.txt", "text/plain", "roles"}, layer{"index", "application/vnd.example.index", "index"})
	r.push(t, "none")
	r.push(t, "twice", table("one"), table("two"))
	for _, c := range []struct{ tag, title, mediaType, want string }{
		{"several", "roles.txt", "", "roles"},
		{"several", "", "application/vnd.example.index", "index"},
		{"several", "users.txt", "text/plain", "users"},
		{"several", "", "", "3 of its 3 layers fit"},
		{"several", "", "text/plain", "2 of its 3 layers fit"},
		{"several", "groups.txt", "", `0 of its 3 layers fit Options.Title and MediaType; their titles: "users.txt, roles.txt, index"`},
		{"several", "users.txt", "application/vnd.example.index", "0 of its 3 layers fit"},
		{"twice", "table.txt", "", "2 of its 2 layers fit"},
	} {
		options := r.options()
		options.Title, options.MediaType = c.title, c.mediaType
		source := oci.Source(r.name(c.tag), options)
		if strings.Contains(c.want, " ") {
			if err := fails(t, source); !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: the error is %v", c, err)
			}
		} else if _, text := read(t, source, ""); text != c.want {
			t.Errorf("%+v: the content is %q", c, text)
		}
	}
}

// The digest is that of the bytes as they are stored.
func TestAnEncodingIsNotUndone(t *testing.T) {
	r := newRegistry(t, nil, nil)
	var zipped strings.Builder
	zip := gzip.NewWriter(&zipped)
	if _, err := zip.Write([]byte("content")); err != nil || zip.Close() != nil {
		t.Fatal(err)
	}
	r.push(t, "stable", table(zipped.String()))
	r.breakWith(r.changing("/blobs/", func(answer *httptest.ResponseRecorder) { answer.Header().Set("Content-Encoding", "gzip") }))
	if _, text := read(t, r.source("stable"), ""); text != zipped.String() {
		t.Errorf("the content is %q", text)
	}
}

func TestAnIndexIsAnError(t *testing.T) {
	r := newRegistry(t, nil, nil)
	one := r.push(t, "one", table("one"))
	index := `{"schemaVersion":2,"mediaType":"` + ocispec.MediaTypeImageIndex + `","manifests":[{"mediaType":"` + one.MediaType + `","digest":"` + one.Digest.String() + `","size":` + strconv.FormatInt(one.Size, 10) + `}]}`
	if _, err := oras.TagBytes(t.Context(), r.repository(t), ocispec.MediaTypeImageIndex, []byte(index), "stable"); err != nil {
		t.Fatal(err)
	}
	if err := fails(t, r.source("stable")); !strings.Contains(err.Error(), "is an index of manifests") {
		t.Errorf("the error is %v", err)
	}
	if _, text := read(t, r.source("@"+one.Digest.String()), ""); text != "one" {
		t.Errorf("the content is %q", text)
	}
}
