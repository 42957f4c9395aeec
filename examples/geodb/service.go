package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/poolswap/poolswap"
)

// service looks addresses up in the current database.
type service struct {
	path string
	pool *poolswap.Pool[database, *database]
	dbs  *poolswap.Container[database, *database]

	// Used by the writer alone, which is one goroutine.
	version uint64      // of the current database
	tried   fs.FileInfo // the file of the last reload, successful or not
}

func newService(path string) *service {
	pool := newPool()
	return &service{path: path, pool: pool, dbs: poolswap.NewEmptyContainer(pool)}
}

// reload opens the file and publishes it. If the file is broken the old
// database stays.
func (s *service) reload() error {
	next := s.pool.Get()
	err := next.open(s.path)
	s.tried = next.file
	if err != nil {
		s.pool.Release(next)
		return err
	}
	s.version++
	next.version = s.version

	// From here on Update owns the database, even if it panics. Do not defer a
	// Release above: it would unmap the file under its readers then.
	s.dbs.Update(next)
	log.Printf("%s is version %d", s.path, s.version)
	return nil
}

// watch reloads when a tick finds another file, until ctx ends.
func (s *service) watch(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			if now, err := os.Stat(s.path); err != nil || unchanged(now, s.tried) {
				continue
			}
			if err := s.reload(); err != nil {
				log.Printf("the database is not replaced: %v", err)
			}
		}
	}
}

// answer is the body of a response. The record of an address that is not in
// the database is null.
type answer struct {
	Network netip.Prefix `json:"network"`
	Record  any          `json:"record"`
	Version uint64       `json:"version"`
	Built   time.Time    `json:"built"`
}

// lookup holds the database until the record is decoded: decoding copies it
// out of the mapping.
func (s *service) lookup(ip netip.Addr) (a answer, err error) {
	db := s.dbs.Acquire()
	defer s.dbs.Release(db)
	if db == nil {
		return a, errors.New("the database is closed")
	}
	result := db.reader.Lookup(ip)
	a = answer{Network: result.Prefix(), Version: db.version, Built: db.reader.Metadata.BuildTime().UTC()}
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
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a) // fails if the client has gone
}

// drain unmaps the last database. It polls, because the pool may be resetting
// a database that the last request gave back, until ctx ends.
func (s *service) drain(ctx context.Context) {
	s.dbs.Update(nil)
	for s.pool.Trim(); s.pool.Stats().Live > 0 && ctx.Err() == nil; s.pool.Trim() {
		time.Sleep(time.Millisecond)
	}
}
