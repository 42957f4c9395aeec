package oci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/poolswap/poolswap/reload"
)

// requests are those of one Fetch. It is their http.RoundTripper, below redirects and
// authentication, and keeps what an error needs: the secrets that it must not show, and
// the last Retry-After.
type requests struct {
	source     *source
	repository *remote.Repository
	secrets    []string
	retryAfter time.Duration
}

func (s *source) newRequests() *requests {
	r := &requests{source: s}
	client := *s.options.Client
	client.Transport = r
	authorized := &auth.Client{Client: &client, Cache: s.tokens}
	if s.options.Credential != nil {
		authorized.Credential = r.credential
	}
	r.repository = &remote.Repository{Client: authorized, Reference: s.ref, PlainHTTP: s.options.PlainHTTP}
	return r
}

func (r *requests) credential(ctx context.Context, host string) (auth.Credential, error) {
	c, err := r.source.options.Credential(ctx, host)
	r.keepSecret(c.Password, c.RefreshToken, c.AccessToken)
	return c, err
}

// RoundTrip implements http.RoundTripper.
func (r *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme != "https" && !r.source.options.PlainHTTP {
		return nil, fmt.Errorf("%s is to be asked without TLS (see Options.PlainHTTP)", request.URL.Host)
	}
	if host := request.URL.Host; host != r.source.ref.Host() && linkLocal(request.URL.Hostname()) {
		return nil, fmt.Errorf("the registry leads to the link-local address %s", host)
	}
	_, authorization, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	_, password, _ := request.BasicAuth()
	r.keepSecret(authorization, password)
	transport := r.source.options.Client.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	response, err := transport.RoundTrip(request)
	if err == nil {
		r.retryAfter = parseRetryAfter(response.Header.Get("Retry-After"))
	}
	return response, err
}

// linkLocal reports whether a host is a link-local address, where a cloud keeps the secrets
// of its machines, or a number, which a resolver may take for one.
func linkLocal(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Unmap().IsLinkLocalUnicast()
	}
	host = strings.TrimSuffix(host, ".")
	_, err := strconv.ParseUint(host[strings.LastIndex(host, ".")+1:], 0, 64)
	return err == nil
}

// blob returns the content of a blob, without revision.
func (r *requests) blob(ctx context.Context, sum digest.Digest) (*reload.Content, error) {
	s := r.source
	scheme := "https"
	if s.options.PlainHTTP {
		scheme = "http"
	}
	address := url.URL{Scheme: scheme, Host: s.ref.Host(), Path: "/v2/" + s.ref.Repository + "/blobs/" + sum.String()}
	return reload.HTTP(address.String(), reload.HTTPOptions{
		Client: &http.Client{Transport: asTransport(r.repository.Client.Do)},
		Prepare: func(request *http.Request) error {
			request.Header.Set("Accept-Encoding", "identity") // the digest is of the bytes as they are stored
			return nil
		},
		HeaderTimeout: s.options.HeaderTimeout,
		StallTimeout:  s.options.StallTimeout,
		MinRate:       s.options.MinRate,
	}).Fetch(auth.AppendRepositoryScope(ctx, s.ref, auth.ActionPull), "")
}

// asTransport is a client in the place of a transport. It follows redirects.
type asTransport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (do asTransport) RoundTrip(request *http.Request) (*http.Response, error) { return do(request) }

// minSecret is the length from which a value is a secret: "1" is in every text.
const minSecret = 4

func (r *requests) keepSecret(values ...string) {
	for _, value := range values {
		if len(value) >= minSecret {
			r.secrets = append(r.secrets, value)
		}
	}
	slices.SortFunc(r.secrets, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
}

// queryOfURL may hold the signature of a link to an object store.
var queryOfURL = regexp.MustCompile(`\?[^\s"<>]+`)

// maxError bounds the text of an error, which may quote the registry.
const maxError = 1 << 10

// explained returns an error without secrets. A refusal by a server is a
// *reload.HTTPError, with its Retry-After.
func (r *requests) explained(err error) error {
	var refusal *errcode.ErrorResponse
	if errors.As(err, &refusal) {
		refused := &reload.HTTPError{Status: refusal.StatusCode, After: r.retryAfter}
		if len(refusal.Errors) > 0 {
			refused.Body = r.redacted(refusal.Errors.Error())
		}
		asked := url.URL{Scheme: refusal.URL.Scheme, Host: refusal.URL.Host, Path: refusal.URL.Path}
		return fmt.Errorf("%s %s: %w", refusal.Method, asked.String(), refused)
	}
	if text := r.redacted(err.Error()); text != err.Error() {
		return &redacted{text, err}
	}
	return err
}

func (r *requests) redacted(text string) string {
	for _, secret := range r.secrets {
		text = strings.ReplaceAll(text, secret, "…")
	}
	text = queryOfURL.ReplaceAllString(text, "?…")
	return strings.ToValidUTF8(text[:min(len(text), maxError)], "")
}

// redacted is an error that does not show all of its text.
type redacted struct {
	text string
	err  error
}

func (e *redacted) Error() string        { return e.text }
func (e *redacted) Is(target error) bool { return errors.Is(e.err, target) }

// parseRetryAfter returns the time of a Retry-After header, in seconds or as a date, or 0.
func parseRetryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(date))
	}
	return 0
}
