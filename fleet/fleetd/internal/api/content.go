package api

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// immutable is the Cache-Control of content. It is private: a shared cache would give
// it to requests without a token.
var immutable = []string{"private, max-age=31536000, immutable"}

// getContent answers with the bytes of a stored revision.
func (s *Server) getContent(q *request) error {
	digest := q.PathValue("sha256")
	if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		return badRequest("a SHA-256 has 64 hexadecimal digits, in lower case")
	}
	leave, err := s.limits.download(q.token.ID)
	if err != nil {
		return err
	}
	defer leave()
	q.w.endDeadline() // the store may have to fetch it from another node
	file, err := s.store.Content(q.Context(), q.name, digest)
	if err != nil {
		return err
	}
	defer file.Close()
	q.w.answerWithin(0)
	h := q.w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("ETag", `"`+digest+`"`)
	h["Cache-Control"] = immutable
	s.serveContent(q, file)
	return nil
}

// serveContent answers with bytes, or with the range of them that was asked for.
func (s *Server) serveContent(q *request, content io.ReadSeeker) {
	if strings.Contains(q.Header.Get("Range"), ",") {
		q.Header.Del("Range") // many ranges cost much, and no replica asks for them
	}
	http.ServeContent(q.w, q.Request, "", time.Time{}, content)
	s.metrics.sent.Add(float64(q.w.sent))
}
