package main

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/poolswap/poolswap"
)

// History keeps the last versions of a list, each with a reference of its own:
// two publications after a List was replaced, its memory has other content. A
// version that is replaced before follow sees it is not kept.
//
// Under Options.MaxLive, K versions with the current one among them need K + 1
// objects, and one more for each reader of an evicted version. Options.Spares of
// K keeps the factory from being called for each.
type History struct {
	lists *poolswap.Container[List, *List]
	limit int

	mu   sync.Mutex
	kept []keptList // oldest first
}

type keptList struct {
	version uint64
	list    *List
}

// follow keeps each version that it sees and tells kept, until ctx ends or the
// container closes. Then it releases all of them, so that Close comes to an end.
func (h *History) follow(ctx context.Context, kept func(version uint64)) {
	defer h.evict(0)
	for version, list := range h.lists.Versions(ctx) {
		h.mu.Lock()
		h.kept = append(h.kept, keptList{version, h.lists.Retain(list)})
		h.mu.Unlock()
		h.evict(h.limit)
		kept(version)
	}
}

// evict releases the oldest versions until n are left.
func (h *History) evict(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.kept) > n {
		h.lists.Release(h.kept[0].list)
		h.kept = slices.Delete(h.kept, 0, 1)
	}
}

var errEvicted = errors.New("this version is not kept any more")

// acquire returns the list of a version. The caller releases it. It has a
// reference of its own, so the version may be evicted while it is read.
func (h *History) acquire(version uint64) (*List, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range h.kept {
		if k.version == version {
			return h.lists.Retain(k.list), nil
		}
	}
	return nil, errEvicted
}

// page returns n names of a version, also when newer ones were published.
func (h *History) page(version uint64, from, n int) ([]string, error) {
	list, err := h.acquire(version)
	if err != nil {
		return nil, err
	}
	defer h.lists.Release(list)
	from = min(from, len(list.names))
	return slices.Clone(list.names[from:min(from+n, len(list.names))]), nil
}

// rollBack publishes the content of an old version as a new one. The old object
// itself is still held, so an Update of it would panic.
//
// It acquires the old version in fill. Before Publish, a reload could evict the
// version meanwhile, and under Options.MaxLive Publish would wait for the very
// object that its caller holds.
func (h *History) rollBack(ctx context.Context, version uint64) error {
	_, err := h.lists.Publish(ctx, func(next, _ *List) error {
		old, err := h.acquire(version)
		if err != nil {
			return err
		}
		defer h.lists.Release(old)
		next.names = append(next.names, old.names...)
		return nil
	})
	return err
}
