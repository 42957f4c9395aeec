package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"sync"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/access"
)

// The limits of the server.
const (
	maxHeader    = 4 << 10  // bytes of the header of a request, to which net/http adds 4 KiB
	maxSmallBody = 64 << 10 // bytes of a body that is no report and no content
	maxUploads   = 8        // at once
	maxNames     = 1000
	maxReads     = 4 // large answers that are made at once

	// Uploads at once of a token: a slow one takes hours.
	maxOwnUploads = maxUploads / 2

	// Requests at once of a token.
	maxOneReplica = 8 // that is good for one id; for a pattern of ids, three quarters of the connections
	maxOthers     = 128

	// Reports.
	reportEvery    = time.Second // of one id
	reportBurst    = 5
	maxReportIDs   = 20_000   // of a name, by one token
	maxReportBytes = 64 << 20 // of all that a token has reported, with reportCost for each
	reportCost     = 512
	reportLife     = 10 * time.Minute

	storeTime  = 15 * time.Second // for a request of the store
	retryAfter = 2                // seconds, for a request that may soon be served
)

// limits counts what each token uses on this server.
type limits struct {
	conns, maxDownloads int // of the server

	mu                 sync.Mutex
	tokens             map[string]*usage
	uploads, downloads int
}

// usage is what a token uses.
type usage struct {
	atOnce             int
	uploads, downloads int
	bytes              int64               // of all reports
	ids                map[string]int      // number of them, by name
	held               map[member]*reports // the reports that the store has
	swept              time.Time
}

// member is a replica of a name.
type member struct{ name, id string }

// reports is the last report of a replica.
type reports struct {
	last  time.Time
	bytes int
	free  time.Time // the burst is whole again
}

// of returns the usage of a token. The caller has the lock.
func (l *limits) of(id string) *usage {
	u := l.tokens[id]
	if u == nil {
		u = &usage{ids: map[string]int{}, held: map[member]*reports{}}
		l.tokens[id] = u
	}
	return u
}

// mostAtOnce returns how many requests a token may have at once on a server with so
// many connections: none can hold them all.
func mostAtOnce(token fleet.Token, conns int) int {
	switch {
	case token.Role != fleet.ReplicaRole:
		return maxOthers
	case access.OneReplica(token):
		return maxOneReplica
	}
	return max(1, conns/4*3)
}

// enter counts a request of a token until leave is called.
func (l *limits) enter(token fleet.Token) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(token.ID)
	if most := mostAtOnce(token, l.conns); u.atOnce >= most {
		return nil, tooMany(retryAfter, "the token has %d requests at once, which is the most", most)
	}
	u.atOnce++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if u.atOnce--; u.atOnce == 0 && len(u.held) == 0 && l.tokens[token.ID] == u {
			delete(l.tokens, token.ID)
		}
	}, nil
}

// upload counts an upload of a token, which enter has counted, until leave is called.
func (l *limits) upload(token string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(token)
	if l.uploads >= maxUploads || u.uploads >= maxOwnUploads {
		return nil, tooMany(retryAfter, "there are %d uploads at once, %d of this token: %d are the most, %d of one token", l.uploads, u.uploads, maxUploads, maxOwnUploads)
	}
	l.uploads++
	u.uploads++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.uploads--
		u.uploads--
	}, nil
}

// download counts content that is sent to a token, which enter has counted, until leave is
// called: a slow reader keeps its file open for hours.
func (l *limits) download(token string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u, own := l.of(token), max(1, l.maxDownloads/4*3)
	if l.downloads >= l.maxDownloads || u.downloads >= own {
		return nil, tooMany(retryAfter, "%d contents are sent at once, %d to this token: %d are the most, %d to one token", l.downloads, u.downloads, l.maxDownloads, own)
	}
	l.downloads++
	u.downloads++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.downloads--
		u.downloads--
	}, nil
}

// report returns an error unless a token may send one more report of a replica.
func (l *limits) report(token, name, id string, size int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	u, at := l.of(token), now()
	size += reportCost
	if at.Sub(u.swept) > reportLife/10 {
		u.sweep(at)
	}
	who := member{name, id}
	r := u.held[who]
	if r == nil {
		if u.ids[name] >= maxReportIDs {
			return tooMany(int(reportLife/time.Second), "the token reports for %d replicas of the name, which is the most", maxReportIDs)
		}
		r = new(reports)
	}
	free := r.free
	if free.Before(at) {
		free = at
	}
	if wait := free.Sub(at) - (reportBurst-1)*reportEvery; wait > 0 {
		return tooMany(int(math.Ceil(wait.Seconds())), "the replica reports too often: once in %v will do", reportEvery)
	}
	if u.bytes+int64(size-r.bytes) > maxReportBytes {
		return tooMany(int(reportLife/time.Second), "the reports of the token have %d MiB, which is the most", maxReportBytes>>20)
	}
	if r.last.IsZero() {
		u.held[who] = r
		u.ids[name]++
	}
	u.bytes += int64(size - r.bytes)
	r.last, r.bytes, r.free = at, size, free.Add(reportEvery)
	return nil
}

// sweep forgets the reports that the store has forgotten.
func (u *usage) sweep(at time.Time) {
	u.swept = at
	for who, r := range u.held {
		if at.Sub(r.last) <= reportLife {
			continue
		}
		u.bytes -= int64(r.bytes)
		delete(u.held, who)
		if u.ids[who.name]--; u.ids[who.name] == 0 {
			delete(u.ids, who.name)
		}
	}
}

// forgetToken forgets a token that was revoked.
func (l *limits) forgetToken(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.tokens, id)
}

// within returns the context of a request with a time.
func (q *request) within(time time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(q.Context(), time)
}

// strictly decodes JSON, all of it, and refuses unknown fields.
func strictly(text []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		return badRequest("the body is not right: %s", bounded(err.Error(), 500))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return badRequest("the body has more than one JSON value")
	}
	return nil
}
