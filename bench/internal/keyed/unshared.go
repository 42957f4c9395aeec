package keyed

// unshared makes each change to one plain map or more, without sharing them.
type unshared struct {
	data *Data
	maps []plain
}

func (t *unshared) Warm(int) int { return 1 }

func (t *unshared) Update(from, to int) error {
	for _, m := range t.maps {
		apply(m, t.data.Changes[from:to])
	}
	return nil
}

func (t *unshared) Reader() (sum func(keys []string) int64, end func()) {
	return func(keys []string) int64 { return sumPlain(t.maps[0], keys) }, nothing
}
