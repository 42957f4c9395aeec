package reload_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/poolswap/poolswap/internal/test/buildflag"
	"github.com/poolswap/poolswap/reload"
)

func skipUnlessAllocationsCount(t *testing.T) {
	t.Helper()
	if buildflag.Race() || buildflag.ASan() || !buildflag.Optimized() {
		t.Skip("this build allocates for itself")
	}
}

func TestAllocationsOfIdlePoll(t *testing.T) { //nolint:paralleltest // it counts allocations
	skipUnlessAllocationsCount(t)
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("os.Stat allocates")
	}
	names, joined := joinFiles(t, "users", "roles")
	for want, source := range map[string]reload.Source{"users": reload.File(names[0]), "usersroles": joined} {
		r, c := joinReloader(source, load)
		ctx := t.Context()
		succeeds(t, r, c, want)
		allocs := testing.AllocsPerRun(1000, func() {
			if err := r.Reload(ctx); err != nil {
				t.Fatal(err)
			}
		})
		if s := r.Status(); allocs != 0 || s.Attempts < 1000 || s.Swaps != 1 {
			t.Errorf("%s: %v allocations, the status is %+v", want, allocs, s)
		}
	}
}

// large is more than any buffer that could hide in an update.
const large = 20 << 20

// allocated returns how many bytes fn allocates at least, in a few runs: other
// goroutines allocate too.
func allocated(fn func()) uint64 {
	least := ^uint64(0)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		fn()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

func TestAllocationsOfUpdate(t *testing.T) { //nolint:paralleltest // it counts allocations
	skipUnlessAllocationsCount(t)
	dir := t.TempDir()
	name := filepath.Join(dir, "data")
	content := make([]byte, large)
	served := site(t, func(w http.ResponseWriter, r *http.Request) { w.Write(content) })
	for what, source := range map[string]reload.Source{
		"File":                 reload.File(name),
		"FS":                   reload.FS(os.DirFS(dir), "data"),
		"HTTP":                 reload.HTTP(served.URL, reload.HTTPOptions{}),
		"Cache of HTTP":        reload.Cache(reload.HTTP(served.URL, reload.HTTPOptions{}), filepath.Join(dir, "cache")),
		"File with a checksum": reload.VerifySHA256(reload.File(name), reload.File(name+".sha256")),
	} {
		t.Run(what, func(t *testing.T) {
			number := 0
			c, _ := newTexts()
			r := reload.New(c, source, func(_ context.Context, next, _ *text, content *reload.Content) error {
				if cap(next.value) < large {
					next.value = make([]byte, large)
				}
				_, err := io.ReadFull(content.Body, next.value)
				return err
			}, reload.Options{Logger: quiet})
			update := func() {
				number++
				for i := range content {
					content[i] = byte(number)
				}
				writeSummed(t, name, content)
				if err := r.Reload(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			update() // makes the objects of the pool
			update()
			if bytes := allocated(update); bytes > 64<<10 {
				t.Errorf("an update of %d bytes allocates %d bytes", large, bytes)
			} else {
				t.Log(bytes, "bytes")
			}
			if s := r.Status(); s.Swaps != 7 || s.Size != large {
				t.Errorf("the status is %+v", s)
			}
		})
	}
}

// writeSummed writes a file and its checksum.
func writeSummed(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, name+".sha256", fmt.Sprintf("%x", sha256.Sum256(content)))
}
