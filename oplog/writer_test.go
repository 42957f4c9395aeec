package oplog_test

import (
	"context"
	"errors"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/oplog"
)

type tableWriter = oplog.Writer[table, *table, operation]

func claim(t *testing.T, log *tableLog) *tableWriter {
	t.Helper()
	w, err := log.Claim()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestOthersDoNotPublishInAClaimedLog(t *testing.T) {
	ctx := t.Context()
	log := newLog(t)
	publish(t, log, set(1, 1))
	w := claim(t, log)
	before := stateOf(log)
	_, published := log.Publish(ctx, set(2, 2))
	_, derived := log.PublishFunc(ctx, func(*table) ([]operation, error) { return []operation{set(2, 2)}, nil })
	_, replaced := log.Replace(ctx, func(*table) error { return nil })
	_, claimed := log.Claim()
	for _, err := range []error{published, derived, replaced, claimed} {
		if err != oplog.ErrClaimed {
			t.Errorf("another publisher got %v", err)
		}
	}
	wantUnchanged(t, log, before)
	if _, err := w.Publish(ctx, log.Container().Version(), []operation{set(3, 3)}, nil); err != nil {
		t.Error(err)
	}
	wantCurrent(t, log, "map[1:1 3:3]")
	wantRight(t, log)
}

func TestWriterPublishesOnOneVersionAlone(t *testing.T) {
	ctx := t.Context()
	log := newLog(t)
	w := claim(t, log)
	from := log.Container().Version()
	version, err := w.Publish(ctx, from, []operation{set(1, 1)}, nil)
	if err != nil || version != log.Container().Version() {
		t.Fatalf("Publish returned %d, %v", version, err)
	}
	before := stateOf(log)
	if version, err := w.Publish(ctx, from, []operation{set(2, 2)}, nil); version != 0 || err != poolswap.ErrConflict {
		t.Errorf("Publish on a replaced version returned %d, %v", version, err)
	}
	if version, err := w.Publish(ctx, version, nil, nil); version != 0 || err != nil {
		t.Errorf("Publish of nothing returned %d, %v", version, err)
	}
	wantUnchanged(t, log, before)
}

func TestWriterChecksTheResult(t *testing.T) {
	ctx := t.Context()
	log := newLog(t)
	w := claim(t, log)
	version, err := w.Replace(ctx, func(next, current *table, apply func(operation) error) error {
		if contentOf(current) != "map[]" {
			t.Errorf("Replace has %s to replace", contentOf(current))
		}
		return errors.Join(apply(set(1, 1)), apply(set(2, 2)))
	})
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	check := func(next, current *table) error {
		if contentOf(current) != "map[1:1 2:2]" || contentOf(next) != "map[2:2]" {
			t.Errorf("check has %s after %s", contentOf(next), contentOf(current))
		}
		return refused
	}
	before := stateOf(log)
	if version, err := w.Publish(ctx, version, []operation{remove(1)}, check); version != 0 || err != refused {
		t.Errorf("Publish of a refused result returned %d, %v", version, err)
	}
	if version, err := w.Replace(ctx, func(next, current *table, apply func(operation) error) error {
		if err := apply(set(2, 2)); err != nil {
			t.Error(err)
		}
		return check(next, current)
	}); version != 0 || err != refused {
		t.Errorf("Replace by a refused result returned %d, %v", version, err)
	}
	wantUnchanged(t, log, before)
	if _, err := w.Publish(ctx, version, []operation{remove(1)}, func(*table, *table) error { return nil }); err != nil {
		t.Error(err)
	}
	wantCurrent(t, log, "map[2:2]")
	wantRight(t, log)
}

func TestReplaceByOperationsThatFail(t *testing.T) {
	log := newLog(t)
	w := claim(t, log)
	applied, bad := log.Stats().Applied, errors.New("bad")
	_, err := w.Replace(t.Context(), func(_, _ *table, apply func(operation) error) error {
		if err := apply(set(1, 1)); err != nil {
			t.Error(err)
		}
		return apply(call(func(*table) error { return bad }))
	})
	if err != bad {
		t.Errorf("Replace returned %v", err)
	}
	if n := log.Stats().Applied - applied; n != 1 {
		t.Errorf("%d operations were applied, want 1", n)
	}
	wantCurrent(t, log, "map[]")
}

func TestWriterWithNil(t *testing.T) {
	w := claim(t, newLog(t))
	var none context.Context
	pooltest.WantPanic(t, "oplog: Publish with a nil Context", func() { w.Publish(none, 0, []operation{set(1, 1)}, nil) })
	pooltest.WantPanic(t, "oplog: Replace with a nil Context", func() { w.Replace(none, nil) })
	pooltest.WantPanic(t, "oplog: Replace with a nil fill", func() { w.Replace(context.Background(), nil) })
}
