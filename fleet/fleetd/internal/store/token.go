package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet"
)

// Secret is a token and the hash of its text.
type Secret struct {
	fleet.Token
	Hash []byte `json:"hash"`
}

// tokenState is a token that is or was valid.
type tokenState struct {
	secret Secret
	seq    uint64
	at     time.Time
	gone   bool
}

// setToken takes a token, or its removal.
func (m *memory) setToken(id string, e entry) error {
	if was := m.tokens[id]; was != nil && e.seq <= was.seq {
		return nil
	}
	t := &tokenState{seq: e.seq, at: e.at, gone: len(e.data) == 0}
	var err error
	if !t.gone {
		err = json.Unmarshal(e.data, &t.secret)
		if err == nil && t.secret.ID != id {
			err = fmt.Errorf("it is of %q", t.secret.ID)
		}
		t.gone = err != nil // one that is damaged is good for nothing
	}
	m.tokens[id] = t
	return err
}

// PutToken stores a token. Its Text is not stored.
func (s *Store) PutToken(ctx context.Context, secret Secret) error {
	if err := errors.Join(s.usable(), refuse(fleet.CheckName("id of a token", secret.ID))); err != nil {
		return err
	}
	secret.Text = ""
	text, err := json.Marshal(secret)
	if err != nil {
		return err
	}
	return s.set(ctx, s.state, subject(tokenKind, secret.ID), text, whatever)
}

// DeleteToken revokes a token. Nodes that are away hear of it when they come back.
func (s *Store) DeleteToken(ctx context.Context, id string) error {
	if err := errors.Join(s.usable(), refuse(fleet.CheckName("id of a token", id))); err != nil {
		return err
	}
	e, err := s.get(ctx, s.state, subject(tokenKind, id))
	if err != nil {
		return err
	}
	if len(e.data) == 0 {
		return errorOf(ErrNotFound, "there is no token %q", id)
	}
	return s.set(ctx, s.state, e.subject, nil, whatever, jetstream.WithMsgTTL(tombstoneTTL))
}

// Token returns a token by its id, without a request.
func (s *Store) Token(id string) (Secret, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.memory.tokens[id]; t != nil && !t.gone {
		return t.secret, true
	}
	return Secret{}, false
}

// Tokens returns all tokens, the oldest first, without a request.
func (s *Store) Tokens() []fleet.Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []fleet.Token
	for _, t := range s.memory.tokens {
		if !t.gone {
			all = append(all, t.secret.Token)
		}
	}
	slices.SortFunc(all, func(a, b fleet.Token) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return all
}
