package oplog_test

import (
	"maps"
	"slices"
)

// plain is the oracle: the content of a table, changed in the most obvious way.
// No slice of it is ever changed in place.
type plain struct {
	values map[uint16]uint64
	lists  map[uint16][]uint64
}

func newPlain() *plain { return &plain{map[uint16]uint64{}, map[uint16][]uint64{}} }

// plainOf returns a copy of the content of obj.
func plainOf(obj *table) *plain {
	p := newPlain()
	maps.Copy(p.values, obj.values)
	for key, list := range obj.lists {
		p.lists[key] = slices.Clone(list)
	}
	return p
}

func (p *plain) clone() *plain { return &plain{maps.Clone(p.values), maps.Clone(p.lists)} }

// fill makes obj, which is empty, a table with the content of p.
func (p *plain) fill(obj *table) {
	maps.Copy(obj.values, p.values)
	for key, list := range p.lists {
		obj.lists[key] = slices.Clone(list)
	}
}

func (p *plain) apply(ops ...operation) {
	for _, op := range ops {
		list := p.lists[op.key]
		switch {
		case op.kind == kindSet:
			p.values[op.key] = op.value
		case op.kind == kindDelete:
			delete(p.values, op.key)
			delete(p.lists, op.key)
		case op.kind == kindAppend && len(list) == longest:
			p.lists[op.key] = []uint64{op.value}
		case op.kind == kindAppend:
			p.lists[op.key] = slices.Concat(list, []uint64{op.value})
		case op.kind == kindAdd && len(list) > 0:
			list = slices.Clone(list)
			list[op.value%uint64(len(list))] += op.value
			p.lists[op.key] = list
		}
	}
}

// hashOf returns a number that depends on the content and not on its order in
// the maps.
func hashOf(values map[uint16]uint64, lists map[uint16][]uint64) (sum uint64) {
	for key, value := range values {
		sum += mix(mix(uint64(key)+1) ^ value)
	}
	for key, list := range lists {
		hash := mix(uint64(key) + 1<<20)
		for _, value := range list {
			hash = mix(hash ^ value)
		}
		sum += hash
	}
	return sum
}

func (p *plain) hash() uint64 { return hashOf(p.values, p.lists) }
func (t *table) hash() uint64 { return hashOf(t.values, t.lists) }

// mix is the finalizer of splitmix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
