//go:build poolswapsched

package sched

// usage records which threads have used which word in all runs so far. Other
// threads cannot observe when a step on a word that only one thread uses, or
// that all only read, is taken, so no choice is needed before it. When a run
// shows that a word is shared after all, the exploration starts again.
type usage struct {
	words map[uint64]use // by word.id
	grown bool           // some word has become shared
}

// use is how one word is used.
type use struct {
	thread  string // the name of the first to use it
	several bool
	written bool
}

func newUsage() *usage { return &usage{words: make(map[uint64]use)} }

// shared records a use of the word and reports whether other threads can observe
// it. Words made during the run, and all words without a usage, count as shared.
// A word that one of several threads of a name uses counts as used by the others
// too: the run in which they do is merged with this one.
func (u *usage) shared(at *word, by *thread, write bool) bool {
	if u == nil || at.late {
		return true
	}
	was, known := u.words[at.id]
	now := was
	if !known {
		now.thread = by.name
	}
	now.several = now.several || now.thread != by.name || by.alike
	now.written = now.written || write
	if now != was || !known {
		u.words[at.id] = now
		if now.several && now.written {
			u.grown = true
		}
	}
	return now.several && now.written
}
