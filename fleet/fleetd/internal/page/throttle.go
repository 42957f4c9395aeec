package page

import (
	"maps"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	maxDelay     = time.Minute
	forgetAfter  = 10 * time.Minute
	maxThrottled = 1000
)

// throttle slows logins down: after the n-th wrong password in a row an address
// waits 2^(n-1) seconds, up to a minute.
type throttle struct {
	mu  sync.Mutex
	all map[string]attempts // by address
}

type attempts struct {
	failed int
	until  time.Time
}

// begin returns 0 if the address may try a password now, and otherwise how long it
// has to wait. An attempt counts as failed until succeeded says otherwise: many at
// once are one attempt.
func (t *throttle) begin(address string) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if len(t.all) >= maxThrottled {
		maps.DeleteFunc(t.all, func(_ string, a attempts) bool { return now.Sub(a.until) > forgetAfter })
	}
	if _, known := t.all[address]; !known && len(t.all) >= maxThrottled {
		address = "" // all others together
	}
	a := t.all[address]
	if wait := a.until.Sub(now); wait > 0 {
		return wait
	}
	if now.Sub(a.until) > forgetAfter {
		a.failed = 0
	}
	a.until = now.Add(min(time.Second<<min(a.failed, 10), maxDelay))
	a.failed++
	t.all[address] = a
	return 0
}

func (t *throttle) succeeded(address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, address)
}

// addressOf returns from where a request comes: an IPv4 address, or the network of
// an IPv6 address, of which a client has many.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	address = address.Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	return netip.PrefixFrom(address, 64).Masked().String()
}
