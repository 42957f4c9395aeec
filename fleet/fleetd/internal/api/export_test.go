package api

import (
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// The limits, for tests of them.
const (
	MaxHeader      = maxHeader
	MaxSmallBody   = maxSmallBody
	MaxUploads     = maxUploads
	MaxOwnUploads  = maxOwnUploads
	MaxOneReplica  = maxOneReplica
	MaxOthers      = maxOthers
	MaxReportIDs   = maxReportIDs
	MaxReportBytes = maxReportBytes
	ReportCost     = reportCost
	ReportBurst    = reportBurst
	MaxWait        = maxWait
	MaxPageEntries = maxPageEntries
	MaxPageBytes   = maxPageBytes
	RefusalBurst   = refusalBurst
	DownloadPiece  = downloadPiece
	HeaderTime     = headerTime
	Moment         = moment
	MinBegun       = minBegun
)

// HurriedUpload is the time of a piece of an upload for hurried clients.
const HurriedUpload = 300 * time.Millisecond

// Hurried returns options that give clients less time than usual.
func Hurried() Options {
	return Options{times: &times{10 * time.Second, 300 * time.Millisecond, 300 * time.Millisecond, HurriedUpload}}
}

// HoldReads takes all places of large answers until release is called.
func (s *Server) HoldReads() (release func()) {
	for range cap(s.reads) {
		s.reads <- struct{}{}
	}
	return func() {
		for range cap(s.reads) {
			<-s.reads
		}
	}
}

// Limits are the limits of tokens.
type Limits struct{ l limits }

// NewLimits returns limits of which nothing is used.
func NewLimits() *Limits { return &Limits{limits{tokens: map[string]*usage{}}} }

// Report counts a report of a token.
func (l *Limits) Report(token, name, id string, size int) error {
	return l.l.report(token, name, id, size)
}

// Expire lets the time pass after which the store forgets a report.
func (l *Limits) Expire() {
	for _, u := range l.l.tokens {
		u.swept = time.Time{}
		for _, r := range u.held {
			r.last = r.last.Add(-2 * reportLife)
		}
	}
}

// Held returns the number of reports that a token holds.
func (l *Limits) Held(token string) int { return len(l.l.tokens[token].held) }

// MostAtOnce returns how many requests a token may have at once, of so many connections.
func MostAtOnce(token fleet.Token, conns int) int { return mostAtOnce(token, conns) }

// Failure returns the answer to an error.
func Failure(err error) (status int, code, text string, after int) {
	f := asFailure(err)
	return f.status, f.code, f.text, f.after
}

// BadPlan returns the error of a plan that cannot be read.
func BadPlan(name string, err error) error { return badPlan(name, err) }

// Routes returns the routes as "METHOD PATH".
func Routes() (all []string) {
	for _, rt := range routes {
		if rt.method != "" {
			all = append(all, rt.label())
		}
	}
	return all
}
