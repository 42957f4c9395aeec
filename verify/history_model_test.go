package verify_test

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// maxRecords bounds how many records one history may touch, and maxContainers
// how many containers.
const (
	maxRecords    = 15
	maxContainers = 2
)

// registerModel is the container as a register: Acquire returns the record and
// the version that the last Update put there, or nothing if it emptied it. What
// happens to one container is judged by itself.
var registerModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := make([][]porcupine.Operation, maxContainers)
		for _, op := range history {
			if s := op.Input.(step); s.kind == kindUpdate || s.kind == kindAcquire {
				parts[s.container] = append(parts[s.container], op)
			}
		}
		return parts
	},
	Init: func() any { return step{} },
	Step: func(state, input, _ any) (bool, any) {
		now, s := state.(step), input.(step)
		switch s.kind {
		case kindUpdate:
			return true, step{record: s.record, version: s.version}
		case kindAcquire:
			return now.record == s.record && now.version == s.version, state
		}
		return false, state
	},
	DescribeOperation: describe,
	DescribeState: func(state any) string {
		s := state.(step)
		return fmt.Sprintf("record %d, version %d", s.record, s.version)
	},
}

// place of a record in the poolModel is one number: how many hold it, and
// these flags.
const (
	isPrivate = 1 << 30
	isCurrent = 1 << 29
)

// poolState is the whole pool: of each record its version, who holds it, and
// whether a writer owns it or a container shows it; and what each container
// shows.
type poolState struct {
	place   [maxRecords + 1]int32
	version [maxRecords + 1]uint64
	current [maxContainers]int
}

// poolModel is the containers with their pool. A record that is current or held
// is not given to a writer, and so keeps its version until it is released by
// the last that holds it.
var poolModel = porcupine.Model{
	Init: func() any { return poolState{} },
	Step: func(state, input, _ any) (bool, any) {
		s, in := state.(poolState), input.(step)
		r := in.record
		switch in.kind {
		case kindGet:
			if s.place[r] != 0 {
				return false, state
			}
			s.place[r] = isPrivate
		case kindUpdate:
			if r != 0 {
				if s.place[r] != isPrivate {
					return false, state
				}
				s.place[r] = isCurrent
				s.version[r] = in.version
			}
			s.place[s.current[in.container]] &^= isCurrent
			s.current[in.container] = r
		case kindAcquire:
			if s.current[in.container] != r || s.version[r] != in.version {
				return false, state
			}
			if r != 0 {
				s.place[r]++
			}
		case kindLook, kindRelease:
			if s.place[r]&^isCurrent == 0 || s.place[r]&isPrivate != 0 {
				return false, state
			}
			if in.kind == kindRelease {
				s.place[r]--
			} else if s.version[r] != in.version {
				return false, state
			}
		}
		return true, s
	},
	DescribeOperation: describe,
	DescribeState: func(state any) string {
		s := state.(poolState)
		text := fmt.Sprintf("current %v;", s.current)
		for r, place := range s.place {
			switch {
			case place&isPrivate != 0:
				text += fmt.Sprintf(" %d private", r)
			case place != 0:
				text += fmt.Sprintf(" %d version %d, %d hold it", r, s.version[r], place&^isCurrent)
			}
		}
		return text
	},
}

func describe(input, _ any) string {
	s := input.(step)
	name := [...]string{"Get", "Update", "Acquire", "look", "Release"}[s.kind]
	return fmt.Sprintf("%s: record %d, version %d, container %d", name, s.record, s.version, s.container)
}
