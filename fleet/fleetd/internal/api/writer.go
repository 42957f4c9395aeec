package api

import (
	"errors"
	"io"
	"math"
	"net/http"
	"time"
)

// Times that a client has.
const (
	headerTime = 10 * time.Second // for the header of a request
	idleTime   = 2 * time.Minute  // between two requests
)

// Pieces of content, for each of which a client has a time.
const (
	downloadPiece = 4 << 20
	uploadPiece   = 1 << 20
)

// times are the times that a client has for the rest. Content moves at 1 MiB a minute
// at least, both ways.
type times struct {
	answer   time.Duration // for reading an answer that is no content
	body     time.Duration // for sending a body that is no content
	download time.Duration // for reading a downloadPiece
	upload   time.Duration // for sending an uploadPiece
}

var usual = times{30 * time.Second, 10 * time.Second, 4 * time.Minute, time.Minute}

// writer is the http.ResponseWriter of a request. It knows the status and the bytes,
// and sends a file in pieces with a deadline for each, by sendfile if the connection
// can.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	times   *times
	status  int // 0 before WriteHeader
	sent    int64
}

func newWriter(w http.ResponseWriter, t *times) *writer {
	return &writer{ResponseWriter: w, control: http.NewResponseController(w), times: t}
}

// answerWithin gives the client the time to read an answer, and the server some time
// before it answers.
func (w *writer) answerWithin(work time.Duration) { w.writeWithin(work + w.times.answer) }

// writeWithin gives the client a time to read the next bytes of the answer.
func (w *writer) writeWithin(within time.Duration) {
	w.control.SetWriteDeadline(now().Add(within)) //nolint:errcheck // a ResponseWriter of a test has none
}

// endDeadline gives the server any time before it answers.
func (w *writer) endDeadline() {
	w.control.SetWriteDeadline(time.Time{}) //nolint:errcheck // a ResponseWriter of a test has none
}

// readWithin gives the client a time to send the next bytes of the body; 0 ends a
// deadline, which otherwise ends the request's context.
func (w *writer) readWithin(within time.Duration) {
	var deadline time.Time
	if within > 0 {
		deadline = now().Add(within)
	}
	w.control.SetReadDeadline(deadline) //nolint:errcheck // a ResponseWriter of a test has none
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.sent += int64(n)
	return n, err
}

// ReadFrom implements io.ReaderFrom, for http.ServeContent.
func (w *writer) ReadFrom(r io.Reader) (n int64, err error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	// The system call takes one LimitedReader around the file, not two.
	rest := int64(math.MaxInt64)
	limited, ok := r.(*io.LimitedReader)
	if ok {
		r, rest = limited.R, limited.N
	}
	for n < rest && err == nil {
		w.writeWithin(w.times.download)
		var m int64
		m, err = io.CopyN(w.ResponseWriter, r, min(rest-n, downloadPiece))
		n += m
	}
	if ok {
		limited.N -= n
	}
	w.sent += n
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// uploadBody is the body of an upload. It gives the client a time for each piece of
// it; the time in which nobody reads does not count.
type uploadBody struct {
	body  io.Reader
	w     *writer
	left  time.Duration // for the rest of the piece
	piece int           // bytes of it
	read  int64
	err   error // of the client, unless it is io.EOF
}

func (u *uploadBody) Read(p []byte) (n int, err error) {
	begin := now()
	u.w.readWithin(max(u.left, time.Millisecond))
	n, err = u.body.Read(p)
	u.left -= time.Since(begin)
	u.read += int64(n)
	if u.piece += n; u.piece >= uploadPiece {
		u.piece, u.left = 0, u.w.times.upload
	}
	if err != nil {
		u.w.readWithin(0) // the server may take its time
	}
	if err != io.EOF {
		u.err = err
	}
	return n, err
}
