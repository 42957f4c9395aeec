package reload

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// client returns a copy of the Client that follows redirects where RedirectHosts
// allow it. It sends prepared, headers of its first request, to the host of that
// request only. Like http.Client with Authorization, it does not send them again
// once another host was asked.
// CheckRedirect of the Client may still add its own.
func (h *httpSource) client(prepared http.Header) *http.Client {
	client, check := *h.options.Client, h.options.Client.CheckRedirect
	client.CheckRedirect = func(request *http.Request, via []*http.Request) error {
		if err := h.redirected(via[len(via)-1].URL, request.URL); err != nil {
			return err
		}
		elsewhere := func(r *http.Request) bool { return r.URL.Host != via[0].URL.Host }
		if elsewhere(request) || slices.ContainsFunc(via, elsewhere) {
			maps.DeleteFunc(request.Header, func(name string, _ []string) bool { return prepared[name] != nil })
		}
		switch {
		case check != nil:
			return check(request, via)
		case len(via) >= 10: // http.Client's limit without a CheckRedirect
			return errors.New("stopped after 10 redirects")
		}
		return nil
	}
	return &client
}

// maxRedirect is the length of a URL that a redirect may lead to. Its keys are not shown,
// and the time to look for a million of them in a text would be a minute.
const maxRedirect = 8 << 10

// redirected returns an error if a redirect must not be followed.
func (h *httpSource) redirected(from, to *url.URL) error {
	hosts := h.options.RedirectHosts
	switch n := len(to.String()); {
	case n > maxRedirect:
		return fmt.Errorf("a redirect leads to a URL of %d bytes, more than %d", n, maxRedirect)
	case from.Scheme == "https" && to.Scheme != "https":
		return errors.New("a redirect leads from https to http")
	case to.Scheme != "https" && to.Scheme != "http": // a Transport may know others, such as file
		return errors.New("a redirect leads to no http or https URL")
	case to.Host == h.url.Host, slices.Contains(hosts, to.Host), slices.Contains(hosts, to.Hostname()):
		return nil
	case hosts != nil:
		return fmt.Errorf("a redirect leads to %s, which is not one of HTTPOptions.RedirectHosts", to.Host)
	}
	address, err := netip.ParseAddr(to.Hostname())
	switch {
	case err == nil && address.Unmap().IsLinkLocalUnicast():
		return fmt.Errorf("a redirect leads to the link-local address %s", to.Host)
	case err != nil && numeric(to.Hostname()):
		return fmt.Errorf("a redirect leads to %s, an address in another form", to.Host)
	}
	return nil
}

// numeric reports whether the last part of a host's name is a number: a resolver of
// the system can take 2852039166 and 0xa9.0376.43518 for 169.254.169.254.
func numeric(host string) bool {
	host = strings.TrimSuffix(host, ".")
	_, err := strconv.ParseUint(host[strings.LastIndex(host, ".")+1:], 0, 64)
	return err == nil
}
