package store

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/poolswap/poolswap/fleet"
)

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

// untoken returns the name or id of a token, and whether token returns that text.
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

// subject returns the subject of names and ids, each a token.
func subject(kind string, names ...string) string {
	for _, name := range names {
		kind += "." + token(name)
	}
	return kind
}

// parts returns the kind, the name and the id, if any, of a subject.
func parts(subject string) (kind, name, id string, ok bool) {
	tokens := strings.Split(subject, ".")
	if len(tokens) < 2 || len(tokens) > 3 {
		return "", "", "", false
	}
	kind = tokens[0]
	if name, ok = untoken(tokens[1]); ok && len(tokens) == 3 {
		id, ok = untoken(tokens[2])
	}
	return kind, name, id, ok
}

func checkName(name string) error { return refuse(fleet.CheckName("name", name)) }

func checkRevision(id string) error { return refuse(fleet.CheckName("id of a revision", id)) }
