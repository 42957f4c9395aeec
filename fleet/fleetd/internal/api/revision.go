package api

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// postRevision stores a revision.
func (s *Server) postRevision(q *request) error {
	r, err := q.revision()
	if err != nil {
		return err
	}
	if q.ContentLength > s.options.MaxContent {
		return tooLarge("the content has %d bytes, and the server takes %d", q.ContentLength, s.options.MaxContent)
	}
	if names := s.store.Names(); len(names) >= maxNames && !slices.Contains(names, q.name) {
		return &failure{http.StatusInsufficientStorage, "full", "the server has too many names: remove some", 0}
	}
	leave, err := s.limits.upload(q.token.ID)
	if err != nil {
		return err
	}
	defer leave()
	q.w.endDeadline() // the pieces of the body have theirs
	body := &uploadBody{body: http.MaxBytesReader(q.w.ResponseWriter, q.Body, s.options.MaxContent), w: q.w, left: q.w.times.upload}
	stored, err := s.store.Put(q.Context(), q.name, r, q.ContentLength, body)
	s.metrics.received.Add(float64(body.read))
	if err != nil {
		return cmp.Or(bodyError(body.err), err) // a client that fails cancels the context, too
	}
	s.log(q, "a revision was stored", slog.String("revision", stored.ID), slog.Int64("bytes", stored.Size), slog.String("sha256", stored.SHA256))
	return q.json(http.StatusCreated, stored)
}

// revision returns id and time of a revision that is stored.
func (q *request) revision() (r fleet.Revision, err error) {
	if r.Created = now().UTC(); q.query.Has("created") {
		r.Created, err = time.Parse(time.RFC3339, q.query.Get("created"))
		if r.Created = r.Created.UTC(); err != nil || r.Created.Year() > 9999 || r.Created.Year() < 0 {
			return r, badRequest("created is a time by RFC 3339, not %.100q", q.query.Get("created"))
		}
	}
	if r.ID = q.query.Get("id"); !q.query.Has("id") {
		r.ID = now().UTC().Format("20060102T150405-") + strings.ToLower(rand.Text()[:8])
	}
	if err := fleet.CheckName("id of the revision", r.ID); err != nil {
		return r, badRequest("%v", err)
	}
	if q.query.Has("base") {
		r.Base = q.query.Get("base")
		if err := fleet.CheckName("id of the base", r.Base); err != nil || r.Base == r.ID {
			return r, badRequest("%v", cmp.Or(err, errors.New("a revision cannot change itself")))
		}
	}
	if r.State = q.query.Get("state"); q.query.Has("state") && !fleet.IsDigest(r.State) {
		return r, badRequest("state is 64 hexadecimal digits in lower case, not %.100q", r.State)
	}
	return r, nil
}

// putSignature signs a stored revision.
func (s *Server) putSignature(q *request) error {
	var body struct {
		Signature []byte `json:"signature"`
	}
	if err := q.decode(maxSmallBody, &body); err != nil {
		return err
	}
	if len(body.Signature) != ed25519.SignatureSize {
		return badRequest("a signature has %d bytes, not %d", ed25519.SignatureSize, len(body.Signature))
	}
	ctx, cancel := q.within(storeTime)
	defer cancel()
	if err := s.store.Sign(ctx, q.name, q.PathValue("id"), body.Signature); err != nil {
		return err
	}
	s.log(q, "a revision was signed", slog.String("revision", q.PathValue("id")))
	return q.none()
}
