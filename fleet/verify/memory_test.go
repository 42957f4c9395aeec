package verify

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// liveHeap returns the bytes that are in use.
func liveHeap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// A replica reads content into the memory of an old object, and has little of what
// is on its way, however slowly it reads.
func TestAReplicaStreamsIntoRecycledMemory(t *testing.T) {
	long(t)
	const size, piece, most = 64 << 20, 4 << 20, 4 << 20
	p := newProcess(t) // of its own, so that the heap here is the replica's
	publisher, err := fleet.NewPublisher(p.dial(), "table", fleet.PublisherOptions{By: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	memory := make([]byte, size)
	source, err := fleet.NewSource(p.dial(), "table", fleet.SourceOptions{ID: "r", Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	var before, peak int64
	c := poolswap.NewEmptyContainer(poolswap.NewPool(func() *object { return new(object) }, nil))
	r := reload.New(c, source, func(_ context.Context, next, _ *object, content *reload.Content) error {
		next.text = memory
		for at := 0; at < size; at += piece {
			if _, err := io.ReadFull(content.Body, memory[at:at+piece]); err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond) // more comes meanwhile, if the server sends it
			peak = max(peak, liveHeap()-before)
		}
		return nil
	}, reload.Options{Logger: quiet, Observe: source.Observe})
	for i := range 2 {
		if _, _, err := publisher.Publish(t.Context(), &pattern{left: size, next: byte(i)}, ""); err != nil {
			t.Fatal(err)
		}
		before, peak = liveHeap(), 0
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Logf("up to %.1f MiB beside an object of %d MiB", float64(peak)/(1<<20), size>>20)
		if peak > most {
			t.Errorf("up to %d bytes are in use beside the object, want at most %d", peak, most)
		}
		if want, err := io.ReadAll(&pattern{left: 1 << 10, next: byte(i)}); err != nil || !bytes.Equal(memory[:1<<10], want) {
			t.Errorf("the content begins with %x", memory[:16])
		}
	}
}

// pattern is content of which each byte is one more than the last.
type pattern struct {
	left int
	next byte
}

func (p *pattern) Read(b []byte) (n int, err error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	n = min(len(b), p.left)
	for i := range b[:n] {
		b[i] = p.next
		p.next++
	}
	p.left -= n
	return n, nil
}

// A transfer that breaks in the middle leaves what is current, and is repeated.
func TestATransferThatBreaksIsRepeated(t *testing.T) {
	m := newTeam(t, 0)
	m.publish(t, "small")
	r := newReplica(t, m.dial(), "r", fleet.SourceOptions{})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.publisher.Publish(t.Context(), &pattern{left: 32 << 20}, ""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	broken := reload.New(r.objects, r.source, func(_ context.Context, _, _ *object, content *reload.Content) error {
		if _, err := io.CopyN(io.Discard, content.Body, 1<<20); err != nil {
			return err
		}
		cancel()
		_, err := io.Copy(io.Discard, content.Body)
		return err
	}, reload.Options{Logger: quiet})
	if err := broken.Reload(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the attempt ends with %v", err)
	}
	if r.text() != "small" {
		t.Errorf("readers get %.20q", r.text())
	}
	if err := r.Reload(t.Context()); err != nil || len(r.text()) != 32<<20 {
		t.Errorf("%v, %d bytes", err, len(r.text()))
	}
}
