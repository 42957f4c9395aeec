package reload_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

type text struct {
	poolswap.Ref
	value []byte
}

func TestSmoke(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	os.WriteFile(name, []byte("one"), 0o644)
	pool := poolswap.NewPool(func() *text { return new(text) }, nil)
	c := poolswap.NewEmptyContainer(pool)
	r := reload.New(c, reload.File(name), func(_ context.Context, next, _ *text, content *reload.Content) (err error) {
		next.value, err = io.ReadAll(content.Body)
		return err
	}, reload.Options{Every: 10 * time.Millisecond, Stats: pool.Stats})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	obj := c.Acquire()
	if string(obj.value) != "one" {
		t.Fatal(string(obj.value))
	}
	c.Release(obj)
	ctx := t.Context()
	t.Log(testing.AllocsPerRun(1000, func() { r.Reload(ctx) }))
	t.Logf("%+v", r.Status())
}
