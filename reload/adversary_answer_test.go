package reload_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// answer is a response as an adversary writes it. Lies change its fields; wire makes
// bytes of them, and means says which content a client may take from these.
type answer struct {
	status  int
	header  http.Header
	content []byte
	encode  func([]byte) []byte // changes content, if not nil
	framing framing
	delta   int64  // of the length that is announced to the true one
	before  string // the status line
	raw     string // header lines that net/http would not write
	after   string // the body
	endless bool   // the body goes on and on
	garbled bool   // it is no HTTP

	cut   int           // how many bytes are written before it hangs up; -1 for all
	piece int           // how many bytes are written at once, 0 for all
	pause time.Duration // before each piece
	hangs bool          // then it keeps the connection open, and says nothing
	keeps bool          // then it waits for another request, as honest servers do
}

// framing is how an answer tells where its body ends.
type framing int

const (
	byLength framing = iota
	byChunks
	byNothing
	byBoth       // chunks, and a length
	byTwo        // two lengths that differ
	brokenChunks // no last chunk
	wrongChunks  // a chunk of another length than announced
	framings     // how many there are
)

// body returns the content as the answer encodes it.
func (a *answer) body() []byte {
	if a.encode != nil {
		return a.encode(a.content)
	}
	return a.content
}

// wire returns the bytes of the answer.
func (a *answer) wire() []byte {
	body := a.body()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%sHTTP/1.1 %03d Status\r\n", a.before, a.status)
	a.header.Write(&b)
	b.WriteString(a.raw)
	length := int64(len(body)) + a.delta
	switch a.framing {
	case byLength:
		fmt.Fprintf(&b, "Content-Length: %d\r\n", length)
	case byBoth:
		fmt.Fprintf(&b, "Content-Length: %d\r\n", length)
		fallthrough
	case byChunks, brokenChunks, wrongChunks:
		b.WriteString("Transfer-Encoding: chunked\r\n")
	case byTwo:
		fmt.Fprintf(&b, "Content-Length: %d\r\nContent-Length: %d\r\n", length, length+1)
	}
	b.WriteString("\r\n")
	if a.status == http.StatusNotModified && a.keeps {
		return b.Bytes()
	}
	switch a.framing {
	case byChunks, byBoth, brokenChunks, wrongChunks:
		half := len(body) / 2
		b.Write(chunk(body[:half], a.framing == wrongChunks))
		b.Write(chunk(body[half:], false))
		if a.framing != brokenChunks && !a.endless {
			b.WriteString("0\r\n\r\n")
		}
	default:
		b.Write(body)
	}
	b.WriteString(a.after)
	return b.Bytes()
}

func chunk(data []byte, wrong bool) []byte {
	n := len(data)
	if wrong {
		n++
	}
	if n == 0 {
		return nil // it would be the last
	}
	return fmt.Appendf(nil, "%x\r\n%s\r\n", n, data)
}

// means returns the content that a client may take from the answer, and whether there
// is any: that of a 200 that is whole by its framing and its encoding.
func (a *answer) means() (content []byte, ok bool) {
	if a.status != http.StatusOK || a.endless || a.garbled {
		return nil, false
	}
	wire, body := a.wire(), a.body()
	sent := len(wire)
	if a.cut >= 0 {
		sent = min(sent, a.cut)
	}
	rest := wire[min(sent, len(wire)-len(body)-len(a.after)):sent] // after the header, if there are no chunks
	switch a.framing {
	case byLength:
		n := int64(len(body)) + a.delta
		if n < 0 || n > int64(len(rest)) {
			return nil, false
		}
		body = rest[:n]
	case byChunks, byBoth:
		if sent < len(wire)-len(a.after) {
			return nil, false
		}
	case byNothing:
		if a.encodings() != "gzip" {
			return nil, false
		}
		body = rest
	default:
		return nil, false
	}
	switch encodings := a.encodings(); {
	case encodings == "", encodings == "identity":
		return body, true
	case encodings == "gzip":
		content, err := unpacked(body, adversaryMaxBytes)
		return content, err == nil
	}
	return nil, false
}

// encodings returns the encodings of the body, with spaces between them.
func (a *answer) encodings() string {
	all := strings.ToLower(strings.Join(a.header.Values("Content-Encoding"), ","))
	return strings.Join(strings.FieldsFunc(all, func(r rune) bool { return r == ',' || r == ' ' }), " ")
}

// send writes the answer, and reports whether the connection stays.
func (a *answer) send(conn net.Conn) (keeps bool) {
	wire := a.wire()
	if a.cut >= 0 {
		wire = wire[:min(a.cut, len(wire))]
	}
	for len(wire) > 0 {
		piece := wire
		if a.piece > 0 {
			piece = wire[:min(a.piece, len(wire))]
		}
		time.Sleep(a.pause)
		if _, err := conn.Write(piece); err != nil {
			return false
		}
		wire = wire[len(piece):]
	}
	for a.endless && a.cut < 0 {
		time.Sleep(a.pause)
		more := bytes.Repeat([]byte("more"), 1+a.piece/4)
		if a.framing != byLength && a.framing != byNothing && a.framing != byTwo {
			more = chunk(more, false)
		}
		if _, err := conn.Write(more); err != nil {
			return false
		}
	}
	if a.hangs {
		io.Copy(io.Discard, conn)
	}
	return a.keeps
}
