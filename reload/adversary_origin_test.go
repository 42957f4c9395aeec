package reload_test

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/poolswap/poolswap/reload"
)

const adversaryMaxBytes = 64 << 10

// adversary is an origin that serves releases of files, with their checksums and
// signatures, and lies about them.
type adversary struct {
	named  bool // signatures are statements of a name
	tags   bool // revisions are ETags
	dates  bool // or dates
	paths  []string
	astray atomic.Int64 // dials to a host that no redirect may lead to

	mu        sync.Mutex // guards the fields below
	release   int        // the newest
	behaviour *behaviour // nil while it is honest
	spared    bool       // it is honest about the second list
	attempt   int
	requests  int             // of this attempt
	zipped    atomic.Bool     // one of them was answered in gzip
	sent      map[string]bool // the digests of content that was sent whole
	summed    map[string]bool // the digests that sums named
	signed    map[string]bool // the digests that the key has signed
	signedTo  int             // the release up to which signed has them
}

// behaviour is a set of lies.
type behaviour struct {
	seed    uint64
	old     bool // it serves an older release of all files
	renamed bool // with the revisions of the newest
	content []int
	side    []int
}

// newBehaviour returns a random behaviour of up to four lies.
func newBehaviour(r *rand.Rand) *behaviour {
	b := &behaviour{seed: r.Uint64(), old: r.IntN(5) == 0, renamed: r.IntN(2) == 0}
	for range r.IntN(5) {
		n := r.IntN(len(lies))
		if r.IntN(3) > 0 {
			b.content = append(b.content, n)
		} else {
			b.side = append(b.side, n)
		}
	}
	slices.Sort(b.content) // content first, and resets last
	slices.Sort(b.side)
	return b
}

func (b *behaviour) String() string {
	if b == nil {
		return "honest"
	}
	var names []string
	for _, n := range b.content {
		names = append(names, lies[n].name)
	}
	for _, n := range b.side {
		names = append(names, lies[n].name+" beside it")
	}
	return fmt.Sprintf("%s (old: %v, renamed: %v)", strings.Join(names, ", "), b.old, b.renamed)
}

// question is a request.
type question struct {
	origin *adversary
	path   string // without /moved
	url    string
	have   string // a tag
	since  string // a date
	moved  bool
}

func (q *question) isSide() bool {
	return strings.HasSuffix(q.path, ".sum") || strings.HasSuffix(q.path, ".sig")
}

// file returns the file at a path in a release.
func (o *adversary) file(path string, release int) []byte { return o.fileOf("deny", path, release) }

func (o *adversary) fileOf(name, path string, release int) []byte {
	of, isSig := strings.CutSuffix(path, ".sig")
	if isSig {
		_, private := key('a')
		sum := sumOf(string(o.fileOf(name, of, release)))
		if o.named {
			return ed25519.Sign(private, reload.Statement(name, sum))
		}
		return ed25519.Sign(private, sum[:])
	}
	if of, isSum := strings.CutSuffix(path, ".sum"); isSum {
		return fmt.Appendf(nil, "%x  list\n", sumOf(string(o.fileOf(name, of, release))))
	}
	return []byte(fmt.Sprintf("%s %s release %d\n", name, path, release) + strings.Repeat("a row of the list\n", release*37%200))
}

// made reports whether content with a digest is of a release and signed for its name.
// The caller has mu.
func (o *adversary) made(sum string) bool {
	for ; o.signedTo <= o.release; o.signedTo++ {
		for _, path := range o.paths {
			o.signed[fmt.Sprintf("%x", sumOf(string(o.file(path, o.signedTo))))] = true
			if !o.named {
				o.signed[fmt.Sprintf("%x", sumOf(string(o.fileOf("allow", path, o.signedTo))))] = true
			}
		}
	}
	return o.signed[sum]
}

func (o *adversary) older(r *rand.Rand) int { return max(0, o.release-1-r.IntN(3)) }

func tagOf(release int) string { return fmt.Sprintf(`"%d"`, release) }

func dateOf(release int) string {
	return time.Date(2020, 1, 1, 0, 0, release, 0, time.UTC).Format(http.TimeFormat)
}

// truth returns the honest answer. The caller has mu.
func (o *adversary) truth(q *question) *answer { return o.truthOf(q, o.release) }

func (o *adversary) truthOf(q *question, release int) *answer {
	a := &answer{status: http.StatusOK, header: http.Header{}, content: o.file(q.path, release), cut: -1}
	if o.tags {
		a.header.Set("ETag", tagOf(release))
	}
	if o.dates {
		a.header.Set("Last-Modified", dateOf(release))
	}
	since, err := http.ParseTime(q.since)
	at, _ := http.ParseTime(dateOf(release))
	if o.tags && q.have == tagOf(release) || o.dates && err == nil && !at.After(since) {
		a.status = http.StatusNotModified
	}
	return a
}

// answer answers a request, and notes the content that it sends.
func (o *adversary) answer(request *http.Request) *answer {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests++
	q := &question{origin: o, url: request.URL.String(), have: request.Header.Get("If-None-Match"), since: request.Header.Get("If-Modified-Since")}
	q.path, q.moved = strings.CutPrefix(request.URL.Path, "/moved")
	a, b := o.truth(q), o.behaviour
	if b == nil || o.spared && strings.HasPrefix(q.path, "/1/") {
		a.keeps = true
	} else {
		r := rand.New(rand.NewPCG(b.seed, uint64(o.attempt<<16+o.requests)))
		if b.old {
			newest := a.header
			a = o.truthOf(q, o.older(rand.New(rand.NewPCG(b.seed, uint64(o.attempt)))))
			if b.renamed {
				a.header = newest
			}
		}
		told := b.content
		if q.isSide() {
			told = b.side
		}
		for _, n := range told {
			lies[n].tell(a, r, q)
		}
	}
	if strings.Contains(a.encodings(), "gzip") {
		o.zipped.Store(true)
	}
	o.note(q, a)
	return a
}

// note notes the content that an answer sends.
func (o *adversary) note(q *question, a *answer) {
	content, ok := a.means()
	switch {
	case ok && q.isSide():
		word, _, _ := strings.Cut(strings.TrimSpace(string(content)), " ")
		o.summed[strings.ToLower(word)] = true
	case ok:
		o.sent[fmt.Sprintf("%x", sumOf(string(content)))] = true
	}
}

// dial returns a connection to the origin, for any host.
func (o *adversary) dial(_ context.Context, _, address string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(address)
	if host != "host" && host != "mirror" {
		o.astray.Add(1)
	}
	client, server := net.Pipe()
	end := &pipeEnd{Conn: client}
	go o.serve(server, end)
	return end, nil
}

// pipeEnd is the client's end of a connection, which can be reset.
type pipeEnd struct {
	net.Conn
	reset atomic.Bool
}

func (p *pipeEnd) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if err == io.EOF && p.reset.Load() {
		err = syscall.ECONNRESET
	}
	return n, err
}

func (o *adversary) serve(conn net.Conn, end *pipeEnd) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		a := o.answer(request)
		end.reset.Store(a.cut%2 == 1)
		if !a.send(conn) {
			return
		}
	}
}
