package fleet

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
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

// untoken returns the name or id of a token, and whether it is one that token
// returns.
func untoken(text string) (name string, ok bool) {
	var b strings.Builder
	for rest := text; rest != ""; {
		c := rest[0]
		rest = rest[1:]
		if c == '=' {
			code, err := hex.DecodeString(rest[:min(2, len(rest))])
			if err != nil || len(code) != 1 {
				return "", false
			}
			c, rest = code[0], rest[2:]
		}
		b.WriteByte(c)
	}
	name = b.String()
	return name, token(name) == text // there is one way to write a name
}

// Names returns the names under which something was published, in order.
func Names(ctx context.Context, conn *nats.Conn) (names []string, err error) {
	if conn == nil {
		return nil, errors.New("fleet: Names with a nil Conn")
	}
	s := &store{conn: conn}
	if names, err = s.names(ctx); err != nil {
		return nil, fmt.Errorf("fleet: the names: %w", err)
	}
	return names, nil
}

func (s *store) names(ctx context.Context) (names []string, err error) {
	ctx, cancel := within(ctx)
	defer cancel()
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	watcher, stop, err := s.watchKeys(ctx, s.plans, "*", jetstream.IgnoreDeletes(), jetstream.MetaOnly())
	if err != nil {
		return nil, err
	}
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case entry, open := <-watcher.Updates():
			if !open {
				return nil, errors.New("the watcher of plans was closed")
			}
			if entry == nil {
				slices.Sort(names)
				return slices.Compact(names), nil
			}
			if name, ok := untoken(entry.Key()); ok {
				names = append(names, name)
			}
		}
	}
}

// checkName returns an error for what cannot be a name or id.
func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("fleet: the %s is empty", what)
	case !utf8.ValidString(name):
		return fmt.Errorf("fleet: the %s, %q, is not valid UTF-8", what, name)
	case len(name) > maxName:
		return fmt.Errorf("fleet: the %s has %d bytes, more than %d", what, len(name), maxName)
	}
	return nil
}

// ErrConflict is returned by a change of a plan that another change has overtaken.
// The plan is what the other one made it: look at it before you try again.
var ErrConflict = errors.New("the plan was changed meanwhile")

// ErrNoPlan is returned where nothing was published under a name yet.
var ErrNoPlan = errors.New("nothing was published under this name")
