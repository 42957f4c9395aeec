package main

import (
	"bytes"
	"encoding/json"
	"expvar"
	"io"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/poolswap/poolswap"
)

// maxBatch is how many bytes of addresses a client may post.
const maxBatch = 1 << 20

// server answers lookups over HTTP from the current table.
type server struct {
	tables  *poolswap.Container[table, *table]
	status  http.Handler
	metrics *metrics
}

// found is the answer for an address that is in the table.
type found struct {
	IP      netip.Addr `json:"ip"`
	ASN     uint32     `json:"asn"`
	Name    string     `json:"name"`
	First   netip.Addr `json:"first"`
	Last    netip.Addr `json:"last"`
	Version uint64     `json:"version"` // of the table
}

// failure is every other answer.
type failure struct {
	Error   string `json:"error"`
	Version uint64 `json:"version,omitempty"` // of the table, if one was asked
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /lookup", s.serveLookup)
	mux.HandleFunc("POST /lookup", s.serveBatch)
	mux.Handle("GET /status", s.status)
	mux.Handle("GET /debug/vars", expvar.Handler())
	return mux
}

// serveLookup answers for one address.
func (s *server) serveLookup(w http.ResponseWriter, r *http.Request) {
	status, answer := s.lookup(r.URL.Query().Get("ip"))
	s.respond(w, status, encode(nil, answer))
}

// lookup holds the table for the lookup and for the copy of the name, never
// while a slow client is written to.
func (s *server) lookup(text string) (status int, answer any) {
	t := s.tables.Acquire()
	defer s.tables.Release(t)
	return s.lookupIn(t, text)
}

// serveBatch answers for each line of the body, a line of JSON each.
func (s *server) serveBatch(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBatch))
	if err != nil {
		s.respond(w, http.StatusBadRequest, encode(nil, failure{Error: err.Error()}))
		return
	}
	s.respond(w, http.StatusOK, s.lookupLines(body))
}

// lookupLines is a read loop, so it uses a Reader: Load costs next to nothing
// while the table stays the same, and takes the new one once there is one.
func (s *server) lookupLines(body []byte) (answers []byte) {
	tables := s.tables.NewReader()
	defer tables.Close()
	for line := range bytes.Lines(body) {
		_, answer := s.lookupIn(tables.Load(), string(bytes.TrimSpace(line)))
		answers = encode(answers, answer)
	}
	return answers
}

// lookupIn looks an address up in a table that the caller holds. The answer
// outlives the table, and has the version of this one: the container may have
// a newer one by now.
func (s *server) lookupIn(t *table, text string) (status int, answer any) {
	ip, err := netip.ParseAddr(text)
	switch {
	case err != nil || ip.Zone() != "":
		return http.StatusBadRequest, failure{Error: "give one IP address without a zone, as in /lookup?ip=192.0.2.1"}
	case t == nil:
		return http.StatusServiceUnavailable, failure{Error: "no table is loaded"}
	}
	version := s.tables.VersionOf(t)
	m, ok := t.lookup(ip)
	if !ok {
		return http.StatusNotFound, failure{"the address is in no range of the table", version}
	}
	return http.StatusOK, found{ip.Unmap(), m.asn, string(m.name), m.first, m.last, version}
}

// encode appends an answer as a line of JSON.
func encode(to []byte, answer any) []byte {
	text, _ := json.Marshal(answer) // cannot fail for found and failure
	return append(append(to, text...), '\n')
}

func (s *server) respond(w http.ResponseWriter, status int, body []byte) {
	s.metrics.answers.Add(strconv.Itoa(status), 1)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails if the client has gone
}
