package page

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// serves reports whether the request names a host of this server. A page from
// elsewhere whose name was made to lead here names its own.
//
// An address is safe, since the browser went there. So is localhost, which does
// not go through the domain name system.
func (p *Page) serves(r *http.Request) bool {
	host, port := strings.ToLower(r.Host), "80"
	if p.options.Secure {
		port = "443"
	}
	if h, explicit, err := net.SplitHostPort(host); err == nil {
		host, port = h, explicit
	}
	host = strings.Trim(host, "[]")
	if slices.ContainsFunc(p.options.Hosts, func(known string) bool {
		return strings.EqualFold(known, host) || strings.EqualFold(known, net.JoinHostPort(host, port))
	}) {
		return host != ""
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok || local.AddrPort().Port() != portOf(port) {
		return false
	}
	at := local.AddrPort().Addr().Unmap()
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Unmap() == at.WithZone(address.Zone())
	}
	return host == "localhost" && at.IsLoopback()
}

func portOf(text string) uint16 {
	port, err := netip.ParseAddrPort("0.0.0.0:" + text)
	if err != nil {
		return 0
	}
	return port.Port()
}
