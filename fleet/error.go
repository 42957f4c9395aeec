package fleet

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Error is a request that a server refused or did not answer. errors.Is finds
// [ErrConflict], [ErrNoPlan] and [ErrSnapshot] in it. It never holds a token.
type Error struct {
	Server string        // its URL
	Op     string        // the operation, as in "get the plan of asn"
	Status int           // of the answer, or 0 if none came
	Code   string        // of the answer: see the protocol
	Text   string        // of the answer
	After  time.Duration // how long the server asked to be left alone
	Err    error         // why there was no answer, or none that makes sense
}

func (e *Error) Error() string {
	text := fmt.Sprintf("fleet: %s: %s: ", e.Op, e.Server)
	switch {
	case e.Err != nil:
		return text + e.Err.Error()
	case e.Text != "":
		return fmt.Sprintf("%s%s (status %d)", text, e.Text, e.Status)
	}
	return fmt.Sprintf("%sstatus %d %s", text, e.Status, http.StatusText(e.Status))
}

// Unwrap returns why no answer came.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether the answer says target: ErrConflict, ErrNoPlan or ErrSnapshot.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrConflict:
		return e.Status == http.StatusPreconditionFailed
	case ErrNoPlan:
		return e.Status == http.StatusNotFound && e.Code == "no_plan"
	case ErrSnapshot:
		return e.Status == http.StatusConflict && e.Code == "snapshot"
	}
	return false
}

// RetryAfter returns how long the server asked to be left alone, or 0.
func (e *Error) RetryAfter() time.Duration { return e.After }

// elsewhere reports whether another server may answer.
func (e *Error) elsewhere() bool {
	switch e.Status {
	case 0, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return e.Err != nil
}

// maxText bounds texts of servers and errors. Two of them fit into a report.
const maxText = 500

// oneLine returns the start of a text, as valid UTF-8 without control characters.
func oneLine(text string) string {
	cut := len(text) > maxText
	if cut {
		text = text[:maxText]
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if cut {
		text += "…"
	}
	return text
}

// withoutToken returns err, or one with its text if that has the token or is long: a
// server can send anything that an error then quotes.
func withoutToken(err error, token string) error {
	text := err.Error()
	if strings.Contains(text, token) || len(text) > maxText {
		return errors.New(oneLine(strings.ReplaceAll(text, token, "…")))
	}
	return err
}

// retryAfter returns the time of a Retry-After header in seconds, or 0.
func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.ParseUint(header.Get("Retry-After"), 10, 24)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
