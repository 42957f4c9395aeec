package reload_test

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// allowed reports whether content may be current.
func (c *campaign) allowed(content string) bool {
	return c.allowedSum(fmt.Sprintf("%x", sumOf(content)))
}

// allowedSum is allowed for the digest of content.
func (c *campaign) allowedSum(sum string) bool {
	o := c.origin
	o.mu.Lock()
	defer o.mu.Unlock()
	switch c.check {
	case "":
		return o.sent[sum]
	case "sum":
		return o.summed[sum]
	}
	return o.made(sum)
}

// behave has the origin behave in one way from now on. It has a new release now and then.
func (c *campaign) behave(b *behaviour) {
	o := c.origin
	o.mu.Lock()
	defer o.mu.Unlock()
	o.behaviour, o.requests = b, 0
	o.zipped.Store(false)
	o.attempt++
	o.spared = c.fallback && c.IntN(2) == 0
	if c.IntN(4) == 0 {
		o.release++
	}
}

// attack has the origin behave in one way during an attempt, and makes it honest now
// and then.
func (c *campaign) attack(b *behaviour) {
	c.behave(b)
	if c.dirs != nil && c.IntN(8) == 0 {
		c.start()
	}
	began := time.Now()
	var err error
	if refused := c.reloader.Status().Refused; refused != "" && c.IntN(4) == 0 {
		err = c.reloader.Accept(c.Context(), refused)
	} else {
		err = c.reloader.Reload(c.Context())
	}
	c.look(b, time.Since(began), err)
	if c.attacks++; c.attacks%4 == 0 {
		want := c.honest()
		if c.dirs != nil && c.IntN(8) == 0 {
			c.start()
		}
		err := c.reloader.Reload(c.Context())
		c.look(nil, 0, err)
		c.isHonest(want, err, b)
	}
	if c.Failed() {
		c.FailNow()
	}
}

// honest makes the origin honest, and returns what readers have to get. Where a check
// finds lies, they may have had the very revision that is the newest still.
func (c *campaign) honest() (want []byte) {
	o := c.origin
	o.mu.Lock()
	defer o.mu.Unlock()
	o.behaviour = nil
	if c.check == "" || c.IntN(2) == 0 {
		o.release++
	}
	for i := range c.lists {
		if i == 0 || !c.fallback {
			want = joined(want, o.file(fmt.Sprintf("/%d/list", i), o.release))
		}
	}
	c.transport.CloseIdleConnections()
	return want
}

// isHonest fails unless the honest content is current. last is how the origin behaved
// before.
func (c *campaign) isHonest(want []byte, err error, last *behaviour) {
	s := c.reloader.Status()
	if err != nil || s.Stale != nil || s.Refused != "" || s.State() != reload.Fresh {
		c.Errorf("with an honest origin: %v; the status is %+v; before, it was %v", err, s, last)
	}
	if got := current(c.texts); !c.lazy && got != string(want) {
		c.Errorf("with an honest origin readers get %.60q, not %.60q; before, it was %v", got, want, last)
	}
	if sum := fmt.Sprintf("%x", sumOf(partsOf(string(want))[0])); c.lazy && s.SHA256 != sum {
		c.Errorf("with an honest origin readers get content %.8s, not %.8s; before, it was %v", s.SHA256, sum, last)
	}
}

// look compares the state after an attempt with all that it may be.
func (c *campaign) look(b *behaviour, took time.Duration, err error) {
	s := c.reloader.Status()
	fault := func(format string, args ...any) {
		c.Errorf("attempt %d of check %q, %d lists, fallback %v, caches %q, lazy %v, tags %v, dates %v: %s\nthe origin: %v\nthe error: %v",
			c.attacks, c.check, c.lists, c.fallback, c.dirs, c.lazy, c.origin.tags, c.origin.dates, fmt.Sprintf(format, args...), b, err)
	}
	if s.Version != 0 && !c.lazy {
		for _, part := range partsOf(current(c.texts)) {
			if !c.allowed(part) {
				fault("readers get %.60q", part)
			}
		}
	}
	if s.Version != 0 && c.lists == 1 && !c.allowedSum(s.SHA256) {
		fault("readers get the content %s", s.SHA256)
	}
	if limit := c.limit(); took > limit {
		fault("it took %v, more than %v", took, limit)
	}
	if n := c.origin.astray.Load(); n > 0 {
		fault("a redirect was followed to where none may lead")
	}
	if all := fmt.Sprintf("%+v %v", s, err); strings.Contains(all, "s3cret-key") || strings.Contains(all, "k4mirror") {
		fault("a key is shown: %s", all)
	}
	if len(s.Revision)+len(s.Refused) > c.lists*8<<10 || err != nil && len(err.Error()) > 16<<10 {
		fault("a revision of %d bytes, and an error", len(s.Revision))
	}
	for _, dir := range c.dirs {
		c.lookInto(dir, b != nil && c.running, fault)
	}
}

// lookInto compares the content of a spool with all that it may have: kept content, and
// during an attempt the fetched one.
func (c *campaign) lookInto(dir string, during bool, fault func(string, ...any)) {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		fault("%v", err)
	}
	count := map[string]int{}
	for _, entry := range entries {
		_, kind, _ := strings.Cut(entry.Name(), ".")
		if kind == "part" && during {
			kind = "content"
		}
		count[kind]++
		if info, err := entry.Info(); err != nil || info.Size() > 4*adversaryMaxBytes { // kept.json may have two sides in base64
			fault("%s has %d bytes, %v", entry.Name(), info.Size(), err)
		}
	}
	for kind, n := range count {
		if during && kind == "content" {
			n--
		}
		if n > 1 || kind != "json" && kind != "content" && kind != "" {
			fault("the spool has %v", count)
		}
	}
}

// limit is the longest time that an attempt may take. Each request may take the
// header's time, twice if a date decides. Bodies may come at the least rate, judged each
// minute, and pause for the stall time at the end of each.
func (c *campaign) limit() time.Duration {
	size := adversaryMaxBytes + 8<<10 // what buffers read ahead
	if c.origin.zipped.Load() {
		size = 1<<20 + 10*adversaryMaxBytes
	}
	minutes := size/(reload.DefaultMinRate*60) + 1
	one := 2*headerTimeout + time.Duration(minutes)*(time.Minute+stallTimeout) + stallTimeout
	return time.Duration(c.lists*c.fetches) * one
}
