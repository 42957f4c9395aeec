package slab

import "unsafe"

// view returns a string that shares the memory of p.
func view(p []byte) string { return unsafe.String(unsafe.SliceData(p), len(p)) }

// view2 returns a slice that shares the memory of s, and is only read.
func view2(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// noCopy makes go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// usage is how much of its memory a slab needed in its last lives, so that it keeps
// the most of these, and no more.
type usage struct {
	lives int
	most  int
}

// fewLives is after how many lives memory that none of them needed is given up.
const fewLives = 16

// ended notes the end of a life that needed that much of what is kept, and returns
// how much to keep.
func (u *usage) ended(needed, kept int) (keep int) {
	u.most = max(u.most, needed)
	if u.lives++; u.lives < fewLives {
		return kept
	}
	keep = min(kept, u.most)
	*u = usage{}
	return keep
}
