package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"expvar"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/poolswap/poolswap"
)

// server answers lookups over HTTP from the current table.
type server struct {
	tables *poolswap.Container[table, *table]
	counts *counters
}

// answer is the body of a lookup that found something.
type answer struct {
	IP    netip.Addr `json:"ip"`
	ASN   uint32     `json:"asn"`
	Name  string     `json:"name"`
	First netip.Addr `json:"first"`
	Last  netip.Addr `json:"last"`
}

// failure is the body of every other response.
type failure struct {
	Error string `json:"error"`
}

var (
	errNoTable   = errors.New("no table is loaded")
	errNotFound  = errors.New("the address is in no range of the table")
	errOneIP     = errors.New("give one ip parameter, as in /lookup?ip=192.0.2.1")
	errQuery     = errors.New("the query string is malformed")
	errIP        = errors.New("ip is not an IP address")
	errZone      = errors.New("ip has a zone; zones are local to a machine")
	errMethod    = errors.New("only GET and HEAD are answered here")
	errNoSuchURL = errors.New("there is nothing here; try /lookup?ip=192.0.2.1 or /debug/vars")
)

// handler returns what the server serves.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/lookup", s.serveLookup)
	mux.Handle("/debug/vars", expvar.Handler())
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, http.StatusNotFound, failure{errNoSuchURL.Error()})
	})
	return mux
}

func (s *server) serveLookup(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.counts.refused.Add(1)
		w.Header().Set("Allow", "GET, HEAD")
		respond(w, http.StatusMethodNotAllowed, failure{errMethod.Error()})
		return
	}
	ip, err := requestedIP(r.URL.RawQuery)
	if err != nil {
		s.counts.refused.Add(1)
		respond(w, http.StatusBadRequest, failure{err.Error()})
		return
	}
	found, err := s.find(ip)
	switch {
	case err == nil:
		s.counts.lookups.Add(1)
		respond(w, http.StatusOK, found)
	case errors.Is(err, errNotFound):
		s.counts.missing.Add(1)
		respond(w, http.StatusNotFound, failure{err.Error()})
	default:
		s.counts.refused.Add(1)
		respond(w, http.StatusServiceUnavailable, failure{err.Error()})
	}
}

// find looks ip up. It holds the table for the lookup and the copy of the name
// alone, never while a slow client is written to.
func (s *server) find(ip netip.Addr) (answer, error) {
	t := s.tables.Acquire()
	defer s.tables.Release(t)
	if t == nil {
		return answer{}, errNoTable
	}
	found, ok := t.lookup(ip)
	if !ok {
		return answer{}, errNotFound
	}
	return answer{ip, found.asn, string(found.name), found.first, found.last}, nil
}

// requestedIP returns the address that a query string asks for; an IPv4-mapped
// one as the IPv4 address that it is.
func requestedIP(query string) (netip.Addr, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return netip.Addr{}, errQuery
	}
	if len(values["ip"]) != 1 {
		return netip.Addr{}, errOneIP
	}
	ip, err := netip.ParseAddr(values.Get("ip"))
	switch {
	case err != nil:
		return netip.Addr{}, errIP
	case ip.Zone() != "":
		return netip.Addr{}, errZone
	}
	return ip.Unmap(), nil
}

// respond writes a response whose body is JSON.
func respond(w http.ResponseWriter, status int, body any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // the content type says that it is no HTML, and names have & in them
	if err := encoder.Encode(body); err != nil {
		panic(err) // no body here can fail to encode
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // the client may have gone; nobody is left to tell
}
