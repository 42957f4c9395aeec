package reload_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// lie changes an honest answer to a question.
type lie struct {
	name string
	tell func(a *answer, r *rand.Rand, q *question)
}

// lies are the primitives that behaviours are made of.
var lies = []lie{
	{"a flipped bit", func(a *answer, r *rand.Rand, _ *question) { flip(a.content, r) }},
	{"content cut short", func(a *answer, r *rand.Rand, _ *question) { a.content = a.content[:r.IntN(len(a.content)+1)] }},
	{"content with a rest", func(a *answer, _ *rand.Rand, _ *question) { a.content = append(a.content, "and more"...) }},
	{"no content", func(a *answer, _ *rand.Rand, _ *question) { a.content = nil }},
	{"forged content", func(a *answer, r *rand.Rand, _ *question) { a.content = fmt.Appendf(nil, "forged %d", r.IntN(3)) }},
	{"content that load refuses", func(a *answer, r *rand.Rand, _ *question) { a.content = fmt.Appendf(nil, "bad %d", r.IntN(3)) }},
	{"a page in the place of content", func(a *answer, _ *rand.Rand, _ *question) { a.content = []byte("<html>log in</html>") }},
	{"large content", func(a *answer, r *rand.Rand, _ *question) { a.content = make([]byte, adversaryMaxBytes-1+r.IntN(3)) }},
	{"an older release", func(a *answer, r *rand.Rand, q *question) { a.content = q.origin.file(q.path, q.origin.older(r)) }},
	{"another file", func(a *answer, r *rand.Rand, q *question) {
		a.content = q.origin.file(q.origin.paths[r.IntN(len(q.origin.paths))], q.origin.release)
	}},
	{"the list of another name", func(a *answer, _ *rand.Rand, q *question) {
		a.content = q.origin.fileOf("allow", q.path, q.origin.release)
	}},
	{"a foreign signature", func(a *answer, _ *rand.Rand, _ *question) {
		_, foreign := key('b')
		a.content = signed(foreign, "forged 1")
	}},
	{"the sum of forged content", func(a *answer, r *rand.Rand, _ *question) {
		a.content = fmt.Appendf(nil, "%x  list\n", sumOf(fmt.Sprintf("forged %d", r.IntN(3))))
	}},
	{"a side in base64", func(a *answer, _ *rand.Rand, _ *question) {
		a.content = []byte(base64.StdEncoding.EncodeToString(a.content) + "\n")
	}},
	{"a long side", func(a *answer, r *rand.Rand, _ *question) {
		a.content = append(a.content, strings.Repeat(" ", 64<<10-r.IntN(128))...)
	}},

	{"gzip", func(a *answer, _ *rand.Rand, _ *question) { zip(a, pack) }},
	{"gzip by another name", func(a *answer, _ *rand.Rand, _ *question) { zip(a, pack); a.header.Set("Content-Encoding", "GZip") }},
	{"gzip cut short", func(a *answer, r *rand.Rand, _ *question) {
		cut := r.IntN(18)
		zip(a, func(b []byte) []byte { return pack(b)[:len(pack(b))-min(cut, len(pack(b)))] })
	}},
	{"gzip with a flipped bit", func(a *answer, r *rand.Rand, _ *question) {
		seed := r.Uint64()
		zip(a, func(b []byte) []byte { b = pack(b); flip(b, rand.New(rand.NewPCG(seed, 0))); return b })
	}},
	{"gzip with a rest", func(a *answer, _ *rand.Rand, _ *question) {
		zip(a, func(b []byte) []byte { return append(pack(b), "rest"...) })
	}},
	{"gzip in two members", func(a *answer, _ *rand.Rand, _ *question) {
		zip(a, func(b []byte) []byte { return append(pack(b[:len(b)/2]), pack(b[len(b)/2:])...) })
	}},
	{"gzip of gzip", func(a *answer, _ *rand.Rand, _ *question) { zip(a, func(b []byte) []byte { return pack(pack(b)) }) }},
	{"a gzip bomb", func(a *answer, _ *rand.Rand, _ *question) { zip(a, func([]byte) []byte { return bomb }) }},
	{"empty gzip members", func(a *answer, r *rand.Rand, _ *question) {
		n := r.IntN(100_000)
		zip(a, func(b []byte) []byte { return append(bytes.Repeat(pack(nil), n), pack(b)...) })
	}},
	{"no gzip", func(a *answer, _ *rand.Rand, _ *question) { a.header.Set("Content-Encoding", "gzip") }},
	{"another encoding", func(a *answer, r *rand.Rand, _ *question) {
		a.header.Set("Content-Encoding", oneOf(r, "br", "gzip, br", "identity", "x-gzip", "zstd"))
	}},
	{"two encodings", func(a *answer, r *rand.Rand, _ *question) {
		a.header["Content-Encoding"] = []string{oneOf(r, "gzip", "identity", ""), oneOf(r, "gzip", "br")}
		a.encode = oneOf(r, nil, pack)
	}},

	{"a wrong length", func(a *answer, r *rand.Rand, _ *question) {
		a.framing, a.delta = byLength, oneOf[int64](r, -1, 1, -10, 100, 1<<40, -1<<30)
	}},
	{"a body beyond its length", func(a *answer, r *rand.Rand, q *question) {
		next := q.origin.truth(q) // the client may take it for the answer to its next request
		a.framing, a.after = byLength, oneOf(r, "rest", string(next.wire()))
		q.origin.note(q, next)
	}},
	{"another framing", func(a *answer, r *rand.Rand, _ *question) { a.framing = framing(r.IntN(int(framings))) }},
	{"chunks", func(a *answer, _ *rand.Rand, _ *question) { a.framing = byChunks }},
	{"an endless body", func(a *answer, r *rand.Rand, _ *question) {
		a.endless, a.framing, a.delta, a.piece = true, framing(r.IntN(int(framings))), 1<<40, r.IntN(2000)
		a.pause = oneOf(r, 0, time.Duration(r.Int64N(int64(stallTimeout))))
	}},

	{"another status", func(a *answer, r *rand.Rand, _ *question) {
		a.status = oneOf(r, 0, 100, 199, 201, 203, 204, 205, 206, 304, 400, 404, 416, 429, 500, 503, 999)
	}},
	{"not modified", func(a *answer, _ *rand.Rand, _ *question) { a.status = http.StatusNotModified }},
	{"busy", func(a *answer, r *rand.Rand, _ *question) {
		a.status = http.StatusServiceUnavailable
		a.header.Set("Retry-After", oneOf(r, "0", "1", "86400", "4294967295", "99999999999999999999", "-5", "soon", "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 02 Jan 2006 15:04:05 GMT"))
	}},
	{"a quoted request", func(a *answer, _ *rand.Rand, q *question) {
		a.status, a.content = http.StatusForbidden, []byte("no such key: "+q.url)
	}},
	{"a redirect", func(a *answer, r *rand.Rand, q *question) {
		if q.moved && r.IntN(3) > 0 {
			return
		}
		a.status = oneOf(r, 301, 302, 303, 307, 308, 300)
		a.header.Set("Location", oneOf(r, "/moved"+q.path, "http://mirror/moved"+q.path, q.path, "//mirror:81/moved"+q.path+"?key=k4mirror", "https://host"+q.path,
			"http://169.254.169.254/latest", "http://2852039166/", "file:///etc/passwd", "", ":", "?", strings.Repeat("/x", 3000)))
	}},

	{"another tag", func(a *answer, r *rand.Rand, q *question) {
		a.header.Set("ETag", oneOf(r, "*", `"a", "b"`, `"x"`, "x", `W/"x"`, `"`+strings.Repeat("x", 2000)+`"`, `" | 0123456789abcdef"`, tagOf(q.origin.older(r)), tagOf(q.origin.release), q.have))
	}},
	{"no tag", func(a *answer, _ *rand.Rand, _ *question) { a.header.Del("ETag") }},
	{"another date", func(a *answer, r *rand.Rand, q *question) {
		a.header.Set("Last-Modified", oneOf(r, "yesterday", dateOf(q.origin.older(r)), dateOf(q.origin.release), "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT"))
	}},
	{"no date", func(a *answer, _ *rand.Rand, _ *question) { a.header.Del("Last-Modified") }},
	{"many headers", func(a *answer, r *rand.Rand, _ *question) {
		for i := range r.IntN(3000) {
			a.header.Set("X-"+strconv.Itoa(i), strings.Repeat("x", 100))
		}
	}},
	{"an odd header", func(a *answer, r *rand.Rand, _ *question) {
		a.raw = oneOf(r, "a b: c\r\n", " folded\r\n", "X:\x00\r\n")
	}},
	{"a broken header", func(a *answer, r *rand.Rand, _ *question) {
		a.raw = oneOf(r, "no colon\r\n", "Content-Length: x\r\n", "Transfer-Encoding: gzip, chunked\r\n", "\r\n")
		a.garbled = true
	}},
	{"other answers first", func(a *answer, r *rand.Rand, _ *question) {
		a.before = strings.Repeat(oneOf(r, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), 1+r.IntN(20))
	}},
	{"no HTTP", func(a *answer, r *rand.Rand, _ *question) {
		a.before = oneOf(r, "\r\n", "SSH-2.0-x\r\n", "\x16\x03\x01", "HTTP/2 200\r\n\r\n")
	}},

	{"a reset", func(a *answer, r *rand.Rand, _ *question) { a.cut = r.IntN(len(a.wire())) }},
	{"a reset at the end", func(a *answer, r *rand.Rand, _ *question) { a.cut = max(0, len(a.wire())-1-r.IntN(10)) }},
	{"silence", func(a *answer, r *rand.Rand, _ *question) { a.cut, a.hangs = r.IntN(len(a.wire())), true }},
	{"silence at the end", func(a *answer, _ *rand.Rand, _ *question) { a.hangs = true }},
	{"a slow start", func(a *answer, r *rand.Rand, _ *question) {
		a.pause = time.Duration(r.Int64N(int64(2 * headerTimeout)))
	}},
	{"a trickle", func(a *answer, r *rand.Rand, _ *question) {
		a.piece, a.pause = 1+r.IntN(3000), time.Duration(r.Int64N(int64(stallTimeout)))
	}},
}

func oneOf[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// flip flips a bit.
func flip(b []byte, r *rand.Rand) {
	if len(b) > 0 {
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
	}
}

func zip(a *answer, encode func([]byte) []byte) {
	a.encode = encode
	a.header.Set("Content-Encoding", "gzip")
}

func pack(b []byte) []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	w.Write(b)
	w.Close()
	return packed.Bytes()
}

// bomb is 8 MiB of zeros.
var bomb = pack(make([]byte, 8<<20))
