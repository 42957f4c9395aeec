package fleet

import (
	"errors"
	"fmt"
	"strings"
)

// The streams of JetStream that a fleet uses. One server serves any number of
// names in them.
const (
	plansBucket    = "poolswap-plans"
	reportsBucket  = "poolswap-reports"
	contentBucket  = "poolswap-content"
	historyStream  = "poolswap-history"
	historySubject = "poolswap.history"
)

const maxName = 128 // bytes of a name or id

// token returns a name or id as one token of a subject, which allows few
// characters: every other byte becomes = and two hexadecimal digits.
func token(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String()
}

// checkName returns an error for what cannot be a name or id.
func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("fleet: the %s is empty", what)
	case len(name) > maxName:
		return fmt.Errorf("fleet: the %s has %d bytes, more than %d", what, len(name), maxName)
	}
	return nil
}

// ErrConflict is returned by a change of a plan that another change has overtaken.
// The plan is what the other one made it: look at it before you try again.
var ErrConflict = errors.New("fleet: the plan was changed meanwhile")

// ErrNoPlan is returned where nothing was published under a name yet.
var ErrNoPlan = errors.New("fleet: nothing was published under this name")
