package oplog

import (
	"cmp"
	"slices"
	"sync"
)

// journal holds the last published operations, for the objects that missed them. The
// publisher that has the turn uses it; a change, and next, lock it, too.
type journal[Op any] struct {
	mu      sync.Mutex
	changed chan struct{} // closed by the next change, if somebody waits
	keep    int
	base    uint64       // the version that the oldest kept operation was applied to
	batches queue[batch] // the publications since base
	ops     queue[Op]    // the operations of batches
	dropped uint64       // operations before the first one in ops
}

// batch is one publication.
type batch struct {
	version uint64
	end     uint64 // operations published until then, since the log began
}

func compareVersion(b batch, version uint64) int { return cmp.Compare(b.version, version) }

// kept returns the number of kept operations.
func (j *journal[Op]) kept() int { return len(j.ops.all()) }

// append adds a publication, and drops the oldest until no more than keep
// operations are left.
func (j *journal[Op]) append(version uint64, ops []Op) {
	if len(ops) > j.keep {
		j.restart(version) // ops would be dropped at once
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wake()
	j.ops.push(ops...)
	j.batches.push(batch{version, j.dropped + uint64(j.kept())})
	for j.kept() > j.keep {
		oldest := j.batches.all()[0]
		n := oldest.end - j.dropped
		j.ops.drop(int(n))
		j.batches.drop(1)
		j.base, j.dropped = oldest.version, oldest.end
	}
}

// restart forgets all publications. Objects of another version than version
// cannot be brought up any more.
func (j *journal[Op]) restart(version uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wake()
	n := j.kept()
	j.ops.drop(n)
	j.batches.drop(len(j.batches.all()))
	j.base, j.dropped = version, j.dropped+uint64(n)
}

// wake wakes those that wait for a change. They find it once the journal is unlocked.
func (j *journal[Op]) wake() {
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

// last returns the version of the last publication.
func (j *journal[Op]) last() uint64 {
	if batches := j.batches.all(); len(batches) > 0 {
		return batches[len(batches)-1].version
	}
	return j.base
}

// since returns the operations that were published after version. It reports
// false if they are not all kept, or if version is not of the log.
func (j *journal[Op]) since(version uint64) ([]Op, bool) {
	ops := j.ops.all()
	if version == j.base {
		return ops, true
	}
	batches := j.batches.all()
	i, found := slices.BinarySearchFunc(batches, version, compareVersion)
	if !found {
		return nil, false
	}
	return ops[batches[i].end-j.dropped:], true
}
