package reload_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// attacks returns how many attacks a test makes, and the seed of all that is random.
func attacks(t *testing.T, short int) (n int, seed uint64) {
	t.Helper()
	n, seed = short, rand.Uint64()
	for name, set := range map[string]func(uint64){
		"POOLSWAP_ATTACKS": func(v uint64) { n = int(v) },
		"POOLSWAP_SEED":    func(v uint64) { seed = v },
	} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		v, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		set(v)
	}
	t.Logf("%d attacks, POOLSWAP_SEED=%d", n, seed)
	return n, seed
}

// inMemory returns a directory, in memory if there is such.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "reload") //nolint:usetesting // no disk to wait for
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// behaviours is how many behaviours the origin has.
const behaviours = 1000

// attacksOfCampaign is how many attempts are made with one origin.
const attacksOfCampaign = 50

// TestAdversarialOrigin has an origin lie in many ways at once. Readers get nothing
// that a check does not allow, and without a check nothing that the origin did not send
// whole; honest content is loaded by the next attempt.
func TestAdversarialOrigin(t *testing.T) { //nolint:paralleltest // it looks at the heap
	n, seed := attacks(t, 300)
	log.SetOutput(io.Discard) // the client tells of answers that it did not ask for
	defer log.SetOutput(os.Stderr)
	r := rand.New(rand.NewPCG(seed, 0))
	all := make([]*behaviour, behaviours)
	for i := range all {
		all[i] = newBehaviour(r)
	}
	seen := map[reload.Outcome]int{}
	before := heap()
	dir := inMemory(t)
	for i := 0; i*attacksOfCampaign < n && !t.Failed(); i++ {
		seed := r.Uint64()
		synctest.Test(t, func(t *testing.T) {
			c := newCampaign(t, rand.New(rand.NewPCG(seed, 0)), filepath.Join(dir, strconv.Itoa(i)))
			defer c.end()
			c.seen = seen
			for range min(n, attacksOfCampaign) {
				c.attack(all[c.IntN(behaviours)])
			}
		})
	}
	if grown := heap() - before; grown > 64<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	t.Log(seen)
	if seen[reload.Loaded] < n/20 || seen[reload.Failed] < n/5 {
		t.Errorf("of %d attempts %v", n, seen)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// campaign is a service and the origin that attacks it.
type campaign struct {
	*testing.T
	*rand.Rand

	origin    *adversary
	transport *http.Transport
	check     string   // which check the sources have, or ""
	dirs      []string // of their caches
	lists     int      // how many lists there are
	fallback  bool     // the second stands in for the first; or else they are joined
	lazy      bool     // load reads next to nothing
	fetches   int      // the most that an attempt makes

	pool     *poolswap.Pool[text, *text]
	texts    *texts
	reloader *reload.Reloader
	seen     map[reload.Outcome]int
	attacks  int
	running  bool // Run makes the attempts
}

func newCampaign(t *testing.T, r *rand.Rand, dir string) *campaign {
	t.Helper()
	revisions := r.IntN(4)
	o := &adversary{
		tags: revisions&1 == 0, dates: revisions > 0, release: 3 + r.IntN(100),
		sent: map[string]bool{}, summed: map[string]bool{}, signed: map[string]bool{},
	}
	if revisions == 3 {
		o.tags, o.dates = false, false
	}
	c := &campaign{T: t, Rand: r, origin: o, check: oneOf(r, "", "sum", "signature", "statement", "signed sum"), lists: 1 + r.IntN(3)/2, fallback: r.IntN(2) == 0, seen: map[reload.Outcome]int{}}
	c.lazy = c.lists == 1 && r.IntN(4) == 0
	o.named = c.check == "statement"
	c.transport = &http.Transport{DialContext: o.dial, TLSHandshakeTimeout: headerTimeout}
	cached := r.IntN(2) == 0
	for i := range c.lists {
		path := fmt.Sprintf("/%d/list", i)
		o.paths = append(o.paths, path, path+".sum", path+".sig", path+".sum.sig")
		c.dirs = append(c.dirs, filepath.Join(dir, strconv.Itoa(i)))
	}
	if !cached {
		c.dirs = nil
	}
	c.start()
	return c
}

// start starts the service, or starts it again.
func (c *campaign) start() {
	if c.texts != nil {
		c.stop()
	}
	c.texts, c.pool = newTexts()
	sources := make([]reload.Source, c.lists)
	for i := range sources {
		source := c.source(i)
		if c.dirs != nil {
			source = reload.Cache(source, c.dirs[i])
		}
		sources[i] = source
	}
	source := sources[0]
	switch {
	case c.lists > 1 && c.fallback:
		source = reload.Fallback(sources...)
	case c.lists > 1:
		source = reload.Join(sources...)
	}
	c.reloader = reload.New(c.texts, source, c.load, reload.Options{
		Logger: quiet, MaxBytes: adversaryMaxBytes, Observe: func(e reload.Event) { c.seen[e.Outcome]++ },
	})
}

func (c *campaign) source(i int) reload.Source {
	options := reload.HTTPOptions{Client: &http.Client{Transport: c.transport}, HeaderTimeout: headerTimeout, StallTimeout: stallTimeout}
	file := func(suffix string) reload.Source {
		c.fetches++
		return reload.HTTP(fmt.Sprintf("http://host/%d/list%s?key=s3cret-key", i, suffix), options)
	}
	c.fetches = 0
	public, _ := key('a')
	switch list := file(""); c.check {
	case "sum":
		return reload.VerifySHA256(list, file(".sum"))
	case "signature":
		return reload.VerifyEd25519(list, file(".sig"), public)
	case "statement":
		return reload.VerifySigned(list, file(".sig"), "deny", public)
	case "signed sum":
		return reload.VerifySHA256(list, reload.VerifyEd25519(file(".sum"), file(".sum.sig"), public))
	default:
		return list
	}
}

// load keeps all parts, as joined joins them.
func (c *campaign) load(_ context.Context, next, _ *text, content *reload.Content) error {
	next.value = next.value[:0]
	parts := content.Parts
	if parts == nil {
		parts = []*reload.Content{content}
	}
	for _, part := range parts {
		body := io.Reader(part.Body)
		if c.lazy {
			body = io.LimitReader(body, 3)
		}
		all, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		if c.dirs != nil && c.check != "" && !c.lazy && !c.allowed(string(all)) {
			c.Errorf("load has seen %.40q, which was not verified", all)
		}
		if strings.HasPrefix(string(all), "bad") && !content.Accepted {
			return errBad
		}
		next.value = joined(next.value, all)
	}
	return nil
}

// joined returns parts with another one, and its length before it.
func joined(parts, part []byte) []byte {
	return append(fmt.Appendf(parts, "%06d ", len(part)), part...)
}

// partsOf returns the parts that joined has joined.
func partsOf(all string) (parts []string) {
	for len(all) > 7 {
		n, _ := strconv.Atoi(all[:6])
		parts, all = append(parts, all[7:7+n]), all[7+n:]
	}
	return parts
}

func (c *campaign) stop() {
	if err := c.texts.Close(context.WithoutCancel(c.Context())); err != nil {
		c.Error(err)
	}
	if s := c.pool.Stats(); s.Retired != 0 || s.Held != 0 {
		c.Errorf("the pool has %+v", s)
	}
}

// end ends the campaign: what waits for a connection would wait for ever.
func (c *campaign) end() {
	c.stop()
	c.transport.CloseIdleConnections()
	time.Sleep(time.Hour)
}

// TestRunFindsHonestOrigin runs Run while an origin lies, for an hour. No lie, nor a
// Retry-After, keeps honest content out for longer than the longest pause.
func TestRunFindsHonestOrigin(t *testing.T) { //nolint:paralleltest // it silences the log
	const longest = 10 * time.Minute // MaxBackoff and MaxRetryAfter for an Every of a minute
	n, seed := attacks(t, 10)
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	r := rand.New(rand.NewPCG(seed, 1))
	dir := inMemory(t)
	for i := 0; i*5 < n && !t.Failed(); i++ {
		seed := r.Uint64()
		synctest.Test(t, func(t *testing.T) {
			c := newCampaign(t, rand.New(rand.NewPCG(seed, 0)), filepath.Join(dir, strconv.Itoa(i)))
			defer c.end()
			c.running = true
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- c.reloader.Run(ctx) }()
			for range 5 {
				var b *behaviour
				for range 1 + c.IntN(3) {
					b = newBehaviour(c.Rand)
					c.behave(b)
					time.Sleep(time.Duration(c.Int64N(int64(20 * time.Minute))))
					c.look(b, 0, nil)
				}
				want := c.honest()
				time.Sleep(c.limit() + longest + longest*11/10 + time.Minute)
				synctest.Wait()
				c.look(nil, 0, nil)
				c.isHonest(want, nil, b)
			}
			cancel()
			<-ended
		})
	}
}
