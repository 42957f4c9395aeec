//go:build poolswapsched

package sched

// usage is what all runs so far have shown of who uses which word. A step on a
// word that one thread alone uses, or that all only read, cannot be told by
// the others from one taken earlier, so it needs no choice before it. When a
// run shows that a word is shared after all, what was explored before counts
// for nothing and the exploration begins anew.
type usage struct {
	words map[uint64]use // by word.id
	grown bool           // some word has become shared
}

// use is how one word is used.
type use struct {
	thread  int // the first to use it
	several bool
	written bool
}

func newUsage() *usage { return &usage{words: make(map[uint64]use)} }

// shared notes a use of the word and reports whether others can notice it. Of
// words that came into being during the run, nothing is assumed; nor without
// a usage.
func (u *usage) shared(at *word, thread int, write bool) bool {
	if u == nil || at.late {
		return true
	}
	id := at.id
	was, known := u.words[id]
	now := was
	if !known {
		now = use{thread: thread}
	}
	now.several = now.several || now.thread != thread
	now.written = now.written || write
	if now != was || !known {
		u.words[id] = now
		if now.several && now.written {
			u.grown = true
		}
	}
	return now.several && now.written
}
