package api

import (
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/poolswap/poolswap/fleet"
)

// getChain answers with the revisions that make a revision's content.
func (s *Server) getChain(q *request) error {
	chain, err := s.store.Chain(q.Context(), q.name, q.PathValue("id"), q.query.Get("from"))
	if err != nil {
		return err
	}
	return q.json(http.StatusOK, map[string][]fleet.Revision{"revisions": chain})
}

// getDeltas answers with the contents of the deltas from a revision to another, one after
// the other.
func (s *Server) getDeltas(q *request) error {
	id, from := q.PathValue("id"), q.query.Get("from")
	chain, err := s.store.Chain(q.Context(), q.name, id, from)
	if err != nil {
		return err
	}
	if from == "" || chain[0].Base != from {
		return badRequest("revision %.100q is not made by deltas from %.100q", id, from)
	}
	leave, err := s.limits.download(q.token.ID)
	if err != nil {
		return err
	}
	defer leave()
	q.w.endDeadline() // the store may have to fetch them from another node
	all := &deltas{chain: chain, open: func(r fleet.Revision) (*os.File, error) { return s.store.Content(q.Context(), q.name, r.SHA256) }}
	for _, r := range chain {
		all.size += r.Size
	}
	defer all.close()
	if err := all.find(); err != nil && !errors.Is(err, io.EOF) { // while there is an answer for it
		return err
	}
	q.w.answerWithin(0)
	q.w.Header().Set("Content-Type", "application/octet-stream")
	s.serveContent(q, all)
	return nil
}

// deltas reads the contents of revisions. It has one file open at a time.
type deltas struct {
	chain        []fleet.Revision
	open         func(fleet.Revision) (*os.File, error)
	size, offset int64 // of all

	file *os.File // which has the next byte, or nil
	end  int64    // of file, as offset
}

// Seek implements io.Seeker.
func (d *deltas) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += d.offset
	case io.SeekEnd:
		offset += d.size
	}
	if offset < 0 {
		return d.offset, errors.New("a place before the first byte")
	}
	if offset != d.offset {
		d.close()
	}
	d.offset = offset
	return offset, nil
}

// find opens the file that has the next byte. It returns io.EOF if none has.
func (d *deltas) find() (err error) {
	if d.file != nil {
		return nil
	}
	d.end = 0
	for _, r := range d.chain {
		start := d.end
		if d.end += r.Size; d.offset >= d.end {
			continue
		}
		if d.file, err = d.open(r); err == nil {
			_, err = d.file.Seek(d.offset-start, io.SeekStart)
		}
		return err
	}
	return io.EOF
}

// Read implements io.Reader.
func (d *deltas) Read(p []byte) (n int, err error) {
	if err := d.find(); err != nil {
		return 0, err
	}
	n, err = d.file.Read(p[:min(int64(len(p)), d.end-d.offset)])
	if d.offset += int64(n); d.offset == d.end {
		d.close()
		err = nil
	}
	return n, err
}

func (d *deltas) close() {
	if d.file != nil {
		d.file.Close()
		d.file = nil
	}
}
