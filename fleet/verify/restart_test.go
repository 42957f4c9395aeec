package verify

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// replicaVariable makes this program a replica with a cache, of the URL and the
// directory that it has.
const replicaVariable = "POOLSWAP_TEST_REPLICA"

// numbered is content that is one number again and again, so that it shows when it
// is mixed.
func numbered(n uint64, words int) []byte {
	text := make([]byte, 0, 8*words)
	for range words {
		text = binary.BigEndian.AppendUint64(text, n)
	}
	return text
}

// numberOf returns the number of content, and whether it is of that alone.
func numberOf(text []byte) (n uint64, whole bool) {
	if len(text) < 8 || len(text)%8 != 0 {
		return 0, false
	}
	n = binary.BigEndian.Uint64(text)
	for i := 8; i < len(text); i += 8 {
		if binary.BigEndian.Uint64(text[i:]) != n {
			return n, false
		}
	}
	return n, true
}

// serveReplica is the process of a replica: it runs until it is killed, and writes
// a line for each thing that its parent must know.
func serveReplica(url, dir string) {
	die := func(err error) {
		fmt.Println("error", err)
		os.Exit(1)
	}
	conn, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond), nats.RetryOnFailedConnect(true))
	if err != nil {
		die(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	source, err := fleet.NewSource(conn, "table", fleet.SourceOptions{ID: "r", Logger: quiet})
	if err != nil {
		die(err)
	}
	objects := poolswap.NewEmptyContainer(poolswap.NewPool(func() *object { return new(object) }, nil))
	r := reload.New(objects, reload.Cache(source, dir), func(_ context.Context, next, _ *object, content *reload.Content) error {
		next.text = next.text[:0] // recycled: what is not replaced is of another revision
		for chunk := make([]byte, 64<<10); ; {
			n, err := content.Body.Read(chunk)
			next.text = append(next.text, chunk[:n]...)
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	}, reload.Options{Every: time.Second, Logger: quiet, Observe: func(e reload.Event) {
		defer source.Observe(e) // after the line: the parent kills at the report
		if e.Outcome != reload.Loaded {
			return
		}
		obj := objects.Acquire()
		defer objects.Release(obj)
		n, _ := numberOf(obj.text)
		if e.Stale != nil {
			fmt.Println("kept", n)
		} else {
			fmt.Println("loaded", n)
		}
	}})
	go r.Run(context.Background())
	for latest := uint64(0); ; {
		if obj := objects.Acquire(); obj != nil {
			n, whole := numberOf(obj.text)
			if !whole {
				fmt.Println("mixed", n)
			}
			if n < latest {
				fmt.Println("back", latest, n)
			}
			latest = n
			objects.Release(obj)
		}
		time.Sleep(time.Millisecond)
	}
}

// life is a replica's process from its start to its end.
type life struct {
	command *exec.Cmd
	lines   []string
	ended   chan struct{}
	first   chan struct{} // closed with the first line
}

func startLife(t testing.TB, url, dir string) *life {
	t.Helper()
	l := &life{command: exec.Command(os.Args[0]), ended: make(chan struct{}), first: make(chan struct{})}
	l.command.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s", replicaVariable, url, dir))
	l.command.Stderr = os.Stderr
	out, err := l.command.StdoutPipe()
	if err == nil {
		err = l.command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(l.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if l.lines = append(l.lines, lines.Text()); len(l.lines) == 1 {
				close(l.first)
			}
		}
	}()
	return l
}

// end kills the process and returns what it wrote.
func (l *life) end() []string {
	l.command.Process.Kill()
	<-l.ended
	l.command.Wait()
	return l.lines
}

// A replica is killed at random points while publications go on, and starts again,
// with the server or without.
func TestAReplicaThatIsKilledGoesOnWithItsCache(t *testing.T) {
	long(t)
	kills := 100
	p := newPartitioned(t, time.Minute)
	url, nowhere := fmt.Sprintf("nats://127.0.0.1:%d", p.port), fmt.Sprintf("nats://127.0.0.1:%d", freePort(t))
	ctx, cancel := context.WithCancel(t.Context())
	published := make(chan uint64)
	go func() {
		n := uint64(0)
		for ctx.Err() == nil {
			n++
			if _, _, err := p.publisher.Publish(context.WithoutCancel(ctx), strings.NewReader(string(numbered(n, 1+rand.IntN(1<<17)))), ""); err != nil {
				t.Error(err)
				break
			}
			time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond)
		}
		published <- n
	}()

	dir := t.TempDir()
	kept := uint64(0) // the last number of which a process said that it is loaded
	counts := map[string]int{}
	for i := range kills {
		alone := kept > 0 && i%4 == 3
		at := url
		if alone {
			at = nowhere
		}
		l := startLife(t, at, dir)
		if i%2 == 1 {
			select {
			case <-l.first: // once one has kept something, each has it without the server, too
			case <-l.ended:
			}
		}
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
		for j, line := range l.end() {
			var what string
			var n uint64
			if _, err := fmt.Sscan(line, &what, &n); err != nil || what != "kept" && what != "loaded" {
				t.Fatalf("life %d: %s", i, line)
			}
			counts[what]++
			if n < kept || what == "kept" && j > 0 || what == "loaded" && (j == 0 && kept > 0 || alone) {
				t.Errorf("life %d, alone %t, line %d: %s, after %d", i, alone, j, line, kept)
			}
			kept = max(kept, n)
		}
	}
	cancel()
	last, began := <-published, time.Now()
	l := startLife(t, url, dir)
	defer l.end()
	eventually(t, "the last publication is loaded", func() bool {
		r, err := p.Status(t.Context())
		return err == nil && len(r.Replicas) == 1 && r.Replicas[0].Revision == r.Plan.Stable && r.Replicas[0].At.After(began)
	})
	if lines := l.end(); !strings.HasSuffix(lines[len(lines)-1], fmt.Sprint(" ", last)) { // kept or loaded
		t.Errorf("it ends with %q, want %d", lines, last)
	}
	t.Logf("%d kills during %d publications: %v", kills, last, counts)
	if counts["kept"] == 0 || counts["loaded"] == 0 {
		t.Error("nothing was tested")
	}
}
