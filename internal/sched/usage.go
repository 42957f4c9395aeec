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
	thread  string // the name of the first to use it
	several bool
	written bool
}

func newUsage() *usage { return &usage{words: make(map[uint64]use)} }

// shared notes a use of the word and reports whether others can notice it. Of
// words that came into being during the run, nothing is assumed; nor without
// a usage. What one of several threads of a name does another may do in a run
// that is not made, because it would be the same.
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
