package verify_test

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// maxRecords is how many records one history can touch, and maxContainers how
// many containers.
const (
	maxRecords    = 15
	maxContainers = 2
)

// registerModel is the container as a register: Acquire returns the record and
// version of the last Update, or nothing if that emptied the container. Each
// container is checked by itself.
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

// The place of a record in poolModel is the number of its holders and these
// flags.
const (
	isPrivate = 1 << 30
	isCurrent = 1 << 29
)

// poolState is the place and version of each record, and the current record of
// each container.
type poolState struct {
	place   [maxRecords + 1]int32
	version [maxRecords + 1]uint64
	current [maxContainers]int
}

// poolModel is the pool and its containers. A writer does not get a record that is
// current or held, so the record keeps its version until its last Release.
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
