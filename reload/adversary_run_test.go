package reload_test

import (
	"context"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

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
