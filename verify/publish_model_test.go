package verify_test

import "fmt"

// publishState is the state of a sequential register.
type publishState struct {
	now  versioned // the version is 0 if it is not known, after Update
	last uint64    // the highest version that is known
}

func (s publishState) String() string {
	return fmt.Sprintf("value %d, version %d; highest %d", s.now.value, s.now.version, s.last)
}

// shows reports whether the version can be that of the current value, and returns
// the state in which it is known.
func (s publishState) shows(version uint64) (publishState, bool) {
	switch {
	case s.now.value == 0:
		return s, version == 0
	case s.now.version != 0:
		return s, version == s.now.version
	}
	s.now.version = version
	ok := version > s.last
	s.last = version
	return s, ok
}

// sees is shows, of the value too.
func (s publishState) sees(saw versioned) (publishState, bool) {
	if saw.value != s.now.value {
		return s, false
	}
	return s.shows(saw.version)
}

func (s publishState) step(in publishStep) (ok bool, next publishState) {
	switch in.kind {
	case publishPublishes:
		if s, ok = s.sees(in.saw); !ok || in.made.version <= s.last || in.made.value != in.saw.value+1 {
			return false, s
		}
		return true, publishState{in.made, in.made.version}
	case publishUpdates, publishEmpties:
		return true, publishState{in.made, s.last}
	case publishFills, publishReads:
		s, ok = s.sees(in.saw)
	case publishVersion:
		s, ok = s.shows(in.saw.version)
	case publishWaits:
		s, ok = s.shows(in.saw.version)
		ok = ok && in.saw.version > in.after
	}
	return ok, s
}

func (s publishStep) String() string {
	name := [...]string{"Publish", "Update", "Update(nil)", "fill", "Acquire", "Version", "Wait"}[s.kind]
	return fmt.Sprintf("%s %d: saw %+v, made %+v, after %d", name, s.at, s.saw, s.made, s.after)
}
