// Package access makes tokens, and decides what they are good for.
package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// Server is the author of the server's own changes. No token has that name.
const Server = "fleetd"

// ErrUnauthorized is returned by Check for a text that is no token, or no longer.
var ErrUnauthorized = errors.New("the request has no valid token")

// prefix begins the text of each token, so that programs which look for leaked
// secrets find it. Id and secret follow, each behind an underline.
const prefix = "psw_"

// New completes a token that by makes, and returns it as it is stored, without its
// text. The text is for its owner alone.
func New(token fleet.Token, by string, now time.Time) (_ store.Secret, text string) {
	token.ID, token.By, token.Created = rand.Text()[:16], by, now.UTC()
	secret := rand.Text()
	return store.Secret{Token: token, Hash: hash(secret)}, prefix + token.ID + "_" + secret
}

// hash returns the hash of a secret. A secret is random and has 128 bits, so it needs
// no slow hash.
func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// Check returns the token of a text, or an error that is ErrUnauthorized. It compares
// in constant time. tokens is Token of the store.
func Check(tokens func(id string) (store.Secret, bool), text string, now time.Time) (fleet.Token, error) {
	text, ok := strings.CutPrefix(text, prefix)
	id, secret, both := strings.Cut(text, "_")
	if !ok || !both {
		return fleet.Token{}, ErrUnauthorized
	}
	stored, found := tokens(id)
	if same := subtle.ConstantTimeCompare(hash(secret), stored.Hash) == 1; !same || !found {
		return fleet.Token{}, ErrUnauthorized
	}
	if Expired(stored.Token, now) {
		return fleet.Token{}, fmt.Errorf("%w: it has expired", ErrUnauthorized)
	}
	return stored.Token, nil
}

// Expired reports whether a token is no longer good.
func Expired(t fleet.Token, now time.Time) bool {
	return !t.Expires.IsZero() && !now.Before(t.Expires)
}

// Has reports whether a token has a role or one that includes it.
func Has(t fleet.Token, role fleet.Role) bool {
	return t.Role.Valid() && slices.Index(fleet.Roles(), t.Role) >= slices.Index(fleet.Roles(), role)
}

// May reports whether a token has the rights of a role for a name.
func May(t fleet.Token, role fleet.Role, name string) bool {
	return Has(t, role) && match(t.Names, name)
}

// MayAll reports whether a token has the rights of a role for all names.
func MayAll(t fleet.Token, role fleet.Role) bool { return Has(t, role) && t.Names == "*" }

// MayReport reports whether a token is good for the reports of a replica.
func MayReport(t fleet.Token, name, id string) bool {
	return match(t.Names, name) && (t.Role == fleet.AdminRole || t.Role == fleet.ReplicaRole && match(t.IDs, id))
}

// OneReplica reports whether a token is good for the reports of a single id.
func OneReplica(t fleet.Token) bool {
	return t.Role == fleet.ReplicaRole && !strings.Contains(t.IDs, "*")
}

// match reports whether a text fits a pattern, in which * stands for any text.
func match(pattern, text string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	for {
		part, after, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(text, part)
		}
		_, behind, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text, rest = behind, after
	}
}

// CheckToken returns an error for a token that cannot be made.
func CheckToken(t fleet.Token, now time.Time) error {
	for _, check := range []struct{ kind, text string }{{"name of the token", t.Name}, {"pattern of names", t.Names}} {
		if err := fleet.CheckName(check.kind, check.text); err != nil {
			return err
		}
	}
	switch {
	case t.Name == Server:
		return fmt.Errorf("%q is the server's own name in the history", t.Name)
	case !t.Role.Valid():
		return fmt.Errorf("%.100q is no role: the roles are replica, reader, publisher, operator and admin", t.Role)
	case !t.Expires.IsZero() && !t.Expires.After(now):
		return errors.New("the token would have expired already")
	case t.ID != "" || t.By != "" || t.Text != "" || !t.Created.IsZero():
		return errors.New("the server chooses id, by, created and token")
	case t.Role != fleet.ReplicaRole && t.IDs != "":
		return errors.New("only a replica's token has ids")
	case t.Role == fleet.ReplicaRole:
		return fleet.CheckName("pattern of ids", t.IDs)
	}
	return nil
}
