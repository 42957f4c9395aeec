package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// graceTime is how long requests may take at shutdown to finish, and after that
// readers to release their databases.
const graceTime = 5 * time.Second

// service looks addresses up in the current database.
type service struct {
	grace    time.Duration
	pool     *poolswap.Pool[database, *database]
	dbs      *poolswap.Container[database, *database]
	reloader *reload.Reloader
}

func newService(path string, poll time.Duration) *service {
	pool := newPool()
	dbs := poolswap.NewEmptyContainer(pool)
	reloader := reload.New(dbs, reload.File(path), load, reload.Options{Every: poll, Stats: pool.Stats})
	return &service{grace: graceTime, pool: pool, dbs: dbs, reloader: reloader}
}

// answer is the body of a response. The record of an address that is not in
// the database is null.
type answer struct {
	Network netip.Prefix `json:"network"`
	Record  any          `json:"record"`
	Version uint64       `json:"version"`
	Built   time.Time    `json:"built"`
}

// errNoDatabase is for lookups before the first database is loaded, and after the
// end.
var errNoDatabase = errors.New("no database is loaded: /status says why")

// lookup holds the database until the record is decoded: decoding copies it
// out of the mapping.
func (s *service) lookup(ip netip.Addr) (answer, error) {
	db := s.dbs.Acquire()
	defer s.dbs.Release(db)
	if db == nil {
		return answer{}, errNoDatabase
	}
	return s.lookupIn(db, ip)
}

// lookupIn looks an address up in a database that the caller holds. The answer
// has the version of this one: the container may have a newer one by now.
func (s *service) lookupIn(db *database, ip netip.Addr) (answer, error) {
	result := db.reader.Lookup(ip)
	a := answer{Network: result.Prefix(), Version: s.dbs.VersionOf(db), Built: db.reader.Metadata.BuildTime().UTC()}
	return a, result.Decode(&a.Record)
}

// ServeHTTP answers /lookup?ip=.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ip, err := netip.ParseAddr(r.FormValue("ip"))
	if err != nil {
		http.Error(w, "give an IP address, as in /lookup?ip=192.0.2.1", http.StatusBadRequest)
		return
	}
	a, err := s.lookup(ip.Unmap())
	switch {
	case errors.Is(err, errNoDatabase):
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a) // fails if the client has gone
}
