// Package oci makes artifacts in an OCI registry a Source of package reload: content that
// was pushed with oras, or by any other client, as a layer of an image manifest.
//
//	source := oci.Source("registry.example.com/tables/asn:stable", oci.Options{})
//	reloader := reload.New(tables, source, load, reload.Options{})
//
// A poll is one HEAD request. Manifest and layer are fetched by digest and verified, so a
// tag that moves meanwhile mixes nothing, and a wrong blob is never published.
package oci

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/poolswap/poolswap/reload"
)

// Options configure [Source]. The zero Options are for a public artifact with one layer.
type Options struct {
	// Title and MediaType choose the layer: the one with this
	// org.opencontainers.image.title, which oras sets to the name of the file, and
	// with this media type. An empty one fits every layer. Unless exactly one layer
	// fits, Fetch fails.
	Title     string
	MediaType string

	// Credential, if not nil, returns the credentials for a registry, given as host
	// or host:port: auth.StaticCredential's, those of Docker's configuration by
	// credentials.Credential, or your own. It is called again once the registry has
	// refused the last ones, so credentials can change. Errors show neither them nor
	// tokens.
	Credential auth.CredentialFunc

	// PlainHTTP asks the registry by HTTP, without TLS. If it is false, no request
	// goes out without TLS, redirects and those for tokens included.
	PlainHTTP bool

	// Client makes the requests; nil stands for http.DefaultClient. A Timeout of it
	// bounds the whole transfer: leave it 0 if layers are large.
	Client *http.Client

	// HeaderTimeout bounds the time until the manifest is known, and then until the
	// header of the layer has come; StallTimeout and MinRate are for the layer. 0
	// stands for the defaults of reload.HTTPOptions, which says more.
	HeaderTimeout time.Duration
	StallTimeout  time.Duration
	MinRate       int
}

// Source returns a Source of one layer of an artifact, named by a reference such as
// registry.example.com/tables/asn:stable or registry.example.com/tables/asn@sha256:….
// Without tag and digest it stands for the tag latest. An artifact named by its digest
// is fetched once, since it cannot change.
//
// Revisions are digests of manifests, so a tag that moves back is new content. The
// Body is the layer as it was pushed: an archive is not unpacked, nor compression
// undone. Content.Modified is the annotation org.opencontainers.image.created. An index
// of several manifests is an error: name one of them. A 429 or 503 with Retry-After keeps
// Run away for that time. Layers need SHA-256 digests.
//
// A digest says that a layer is that of the manifest, not who pushed it:
// reload.VerifySigned does.
//
// Source panics if the reference is malformed or a timeout is negative.
func Source(reference string, options Options) reload.Source {
	ref, err := registry.ParseReference(reference)
	if err != nil || strings.HasPrefix(ref.Registry, ":") || strings.HasSuffix(reference, ":") || strings.HasSuffix(reference, "@") {
		panic("oci: Source with a malformed reference") // it is not shown: it may hold a password
	}
	if options.HeaderTimeout < 0 || options.StallTimeout < 0 {
		panic("oci: Source with a negative HeaderTimeout or StallTimeout")
	}
	ref.Reference = ref.ReferenceOrDefault()
	options.Client = cmp.Or(options.Client, http.DefaultClient)
	options.HeaderTimeout = cmp.Or(options.HeaderTimeout, reload.DefaultHeaderTimeout)
	return &source{ref, options, auth.NewCache()}
}

type source struct {
	ref     registry.Reference
	options Options
	tokens  auth.Cache
}

// String returns the reference.
func (s *source) String() string { return s.ref.String() }

// Identity implements reload.Identifier: it names the layer, too.
func (s *source) Identity() string {
	return fmt.Sprintf("%s %q %q", s.ref, s.options.Title, s.options.MediaType)
}

// Fetch implements reload.Source.
func (s *source) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	if pinned, err := s.ref.Digest(); err == nil && have == pinned.String() {
		return nil, reload.ErrNotModified
	}
	requests := s.newRequests()
	fetched, err := s.fetch(ctx, requests, have)
	if err != nil {
		return nil, requests.explained(err)
	}
	return fetched, nil
}

func (s *source) fetch(ctx context.Context, requests *requests, have string) (*reload.Content, error) {
	found, manifest, err := s.manifest(ctx, requests, have)
	if err != nil {
		return nil, err
	}
	layer, err := s.options.choose(manifest.Layers)
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", found, err)
	}
	fetched, err := requests.blob(ctx, layer.Digest)
	if err != nil {
		return nil, fmt.Errorf("layer %s: %w", layer.Digest, err)
	}
	fetched.Revision, fetched.Size = found.String(), layer.Size
	fetched.Modified, _ = time.Parse(time.RFC3339, manifest.Annotations[ocispec.AnnotationCreated])
	fetched.Verify = func(sum [32]byte) error {
		if hex.EncodeToString(sum[:]) != layer.Digest.Encoded() {
			return fmt.Errorf("the SHA-256 of the layer is %x, and the manifest says %s", sum, layer.Digest.Encoded())
		}
		return nil
	}
	return fetched, nil
}

// maxManifest is the size of a manifest that each registry has to take.
const maxManifest = 4 << 20

// manifestTypes are the media types of manifests with layers, and those of indexes, which
// a registry would otherwise resolve as it likes.
var (
	manifestTypes = []string{ocispec.MediaTypeImageManifest, "application/vnd.docker.distribution.manifest.v2+json"}
	indexTypes    = []string{ocispec.MediaTypeImageIndex, "application/vnd.docker.distribution.manifest.list.v2+json"}
)

// manifest returns the manifest that the reference stands for now, and its digest, or
// ErrNotModified if that is have.
func (s *source) manifest(ctx context.Context, requests *requests, have string) (digest.Digest, *manifest, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.HeaderTimeout, fmt.Errorf("no manifest within %v", s.options.HeaderTimeout))
	defer cancel()
	found, err := requests.repository.Resolve(ctx, s.ref.Reference)
	switch {
	case err != nil:
		return "", nil, causeOf(ctx, err)
	case found.Digest.String() == have:
		return "", nil, reload.ErrNotModified
	}
	fail := func(err error) (digest.Digest, *manifest, error) {
		return "", nil, fmt.Errorf("manifest %s: %w", found.Digest, err)
	}
	switch {
	case isOneOf(found.MediaType, indexTypes):
		return fail(errors.New("it is an index of manifests: name one of them by its digest, or by a tag of its own"))
	case !isOneOf(found.MediaType, manifestTypes):
		return fail(fmt.Errorf("it has the media type %.100q, which is no image manifest's", found.MediaType))
	case found.Size > maxManifest:
		return fail(fmt.Errorf("it has %d bytes, more than %d", found.Size, maxManifest))
	}
	text, err := content.FetchAll(ctx, requests.repository, found) // verifies its digest
	if err != nil {
		return fail(causeOf(ctx, err))
	}
	read := new(manifest)
	if err := json.Unmarshal(text, read); err != nil {
		return fail(err)
	}
	return found.Digest, read, nil
}

func isOneOf(mediaType string, types []string) bool {
	return mediaType == types[0] || mediaType == types[1]
}

// choose returns the layer that the options name.
func (o *Options) choose(layers []ocispec.Descriptor) (chosen ocispec.Descriptor, err error) {
	fits := 0
	var titles []string
	for _, layer := range layers {
		title := layer.Annotations[ocispec.AnnotationTitle]
		titles = append(titles, title)
		if (o.Title == "" || o.Title == title) && (o.MediaType == "" || o.MediaType == layer.MediaType) {
			chosen = layer
			fits++
		}
	}
	switch {
	case fits != 1:
		return chosen, fmt.Errorf("%d of its %d layers fit Options.Title and MediaType; their titles: %.200q", fits, len(layers), strings.Join(titles, ", "))
	case chosen.Digest.Validate() != nil || chosen.Digest.Algorithm() != digest.SHA256:
		return chosen, errors.New("the layer has no SHA-256 digest")
	case chosen.Size < 0:
		return chosen, fmt.Errorf("the layer has a size of %d bytes", chosen.Size)
	}
	return chosen, nil
}

// causeOf returns why ctx was ended, if it was, and err otherwise.
func causeOf(ctx context.Context, err error) error { return cmp.Or(context.Cause(ctx), err) }
