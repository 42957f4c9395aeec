package reload

import (
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// The prefixes say which header a revision is for.
const (
	etagPrefix = "etag "
	datePrefix = "date "
)

// maxTag is the length of an ETag or a date that a revision can hold.
const maxTag = 1 << 10

// oneTag is an ETag that stands for one content. A server takes "*" and a list for
// content that it never sent.
var oneTag = regexp.MustCompile(`^(W/)?("[^"]*"|[^",*\s]+)$`)

// revisionOf returns the revision that a header stands for, or "", and the time of the
// content, if it is known.
func revisionOf(header http.Header) (revision string, modified time.Time) {
	date := header.Get("Last-Modified")
	if at, err := http.ParseTime(date); err == nil && len(date) <= maxTag {
		modified, revision = at, datePrefix+date
	}
	if tag := header.Get("ETag"); len(tag) <= maxTag && utf8.ValidString(tag) && oneTag.MatchString(tag) {
		revision = etagPrefix + tag
	}
	return revision, modified
}

// setConditions makes a request conditional on have, if have is a revision that
// an HTTP source gave, and reports whether it is.
func setConditions(header http.Header, have string) bool {
	if tag, ok := strings.CutPrefix(have, etagPrefix); ok {
		header.Set("If-None-Match", tag)
		return true
	}
	date, ok := strings.CutPrefix(have, datePrefix)
	if ok {
		header.Set("If-Modified-Since", date)
	}
	return ok
}

// isOfAnotherDate reports whether a response says that content was not modified since
// have, and yet was made at another time: content of before came back.
func isOfAnotherDate(response *http.Response, have string) bool {
	then, ok := strings.CutPrefix(have, datePrefix)
	now := response.Header.Get("Last-Modified")
	return ok && response.StatusCode == http.StatusNotModified && now != "" && now != then
}
