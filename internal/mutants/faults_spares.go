package main

// spareFaults are planted in the default number of spares. Each makes the limit
// follow something else than the work; nothing is recycled too early for it. The
// unit layer catches those that the scheduler cannot see.
var spareFaults = []fault{
	{"spares: the limit never falls", "internal/refcount/spares.go", []edit{
		{
			`l.last, l.peak, l.gets = l.peak, 0, 0`,
			`l.last, l.gets = l.peak, 0`,
		},
	}},
	{"spares: the limit falls, and the surplus stays", "internal/refcount/return.go", []edit{
		{
			`	if surplus {
`,
			`	if surplus && p.Spares == 0 {
`,
		},
	}},
	{"spares: a literal that is published is not private before", "internal/refcount/adopt.go", []edit{
		{
			`	return uint64(private), true
`,
			`	p.stats.private.Add(-1)
	return uint64(private), true
`,
		},
	}},
	{"spares: a published object stays private", "internal/refcount/update.go", []edit{
		{
			`s.pool.stats.private.Add(-1)`,
			`s.pool.stats.private.Add(0)`,
		},
	}},
	{"spares: an object that was collected stays private", "internal/refcount/cleanup.go", []edit{
		{
			`	stats.private.Add(-1)`,
			`	stats.private.Add(0)`,
		},
	}},
	{"spares: an object that was given back stays private", "internal/refcount/return.go", []edit{
		{
			`p.stats.private.Add(-1)`,
			`p.stats.private.Add(0)`,
		},
	}},
}
