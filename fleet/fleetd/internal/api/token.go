package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/access"
)

// maxTokens bounds the tokens of a server.
const maxTokens = 100_000

// FirstToken makes a token of an administrator for all names, unless the store has
// one that is good, and writes its text to a file of mode 0600. It returns whether it
// has. After a failure, also after one that leaves open whether the token was stored,
// call it again.
func (s *Server) FirstToken(ctx context.Context, file string) (bool, error) {
	// The text is on the disk before the token is stored, and has its name after it.
	part := file + ".part"
	if text, err := os.ReadFile(part); err == nil {
		if _, err := access.Check(s.store.Token, strings.TrimSpace(string(text)), now()); err == nil {
			return true, os.Rename(part, file)
		}
	}
	if slices.ContainsFunc(s.store.Tokens(), func(t fleet.Token) bool {
		return access.MayAll(t, fleet.AdminRole) && !access.Expired(t, now())
	}) {
		return false, nil
	}
	secret, text := access.New(fleet.Token{Name: "admin", Role: fleet.AdminRole, Names: "*"}, access.Server, now())
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	out, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // not that of another user
	if err != nil {
		return false, err
	}
	_, err = out.WriteString(text + "\n")
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = s.store.PutToken(ctx, secret)
	}
	if err == nil {
		err = os.Rename(part, file)
	}
	return err == nil, err
}

func (s *Server) getTokens(q *request) error {
	all := append([]fleet.Token{}, s.store.Tokens()...)
	slices.SortFunc(all, func(a, b fleet.Token) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
	})
	return q.json(http.StatusOK, map[string][]fleet.Token{"tokens": all})
}

func (s *Server) postToken(q *request) error {
	var token fleet.Token
	if err := q.decode(maxSmallBody, &token); err != nil {
		return err
	}
	if err := access.CheckToken(token, now()); err != nil {
		return badRequest("%v", err)
	}
	if len(s.store.Tokens()) >= maxTokens {
		return &failure{http.StatusInsufficientStorage, "full", "the server has too many tokens: revoke some", 0}
	}
	secret, text := access.New(token, q.token.Name, now())
	ctx, cancel := q.within(storeTime)
	defer cancel()
	if err := s.store.PutToken(ctx, secret); err != nil {
		return err
	}
	made := secret.Token
	expires := "never"
	if !made.Expires.IsZero() {
		expires = made.Expires.Format(time.RFC3339)
	}
	s.log(q, "a token was made", slog.String("made", made.ID), slog.String("for", made.Name), slog.String("role", string(made.Role)),
		slog.String("names", made.Names), slog.String("ids", made.IDs), slog.String("expires", expires))
	made.Text = text
	return q.json(http.StatusCreated, made)
}

func (s *Server) deleteToken(q *request) error {
	id := q.PathValue("id")
	token, ok := s.store.Token(id)
	if !ok {
		return &failure{http.StatusNotFound, "not_found", "there is no such token", 0}
	}
	ctx, cancel := q.within(storeTime)
	defer cancel()
	if err := s.store.DeleteToken(ctx, id); err != nil {
		return err
	}
	s.limits.forgetToken(id)
	s.log(q, "a token was revoked", slog.String("revoked", id), slog.String("of", token.Name))
	return q.none()
}
