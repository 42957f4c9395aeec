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
	{"spares: the limit falls, and what is too much stays", "internal/refcount/return.go", []edit{
		{
			`	if surplus {
`,
			`	if surplus && p.Spares == 0 {
`,
		},
	}},
	{"spares: a literal ends a fill that never began", "internal/refcount/update.go", []edit{
		{
			`unpublished.Add(-1) // published by`,
			`unpublished.Add(0) // published by`,
		},
	}},
	{"spares: an object that was collected is being filled for ever", "internal/refcount/cleanup.go", []edit{
		{
			`stats.unpublished.Add(1)`,
			`stats.unpublished.Add(0)`,
		},
	}},
	{"spares: an object that was given back is being filled for ever", "internal/refcount/return.go", []edit{
		{
			`p.stats.unpublished.Add(1)`,
			`p.stats.unpublished.Add(0)`,
		},
	}},
}
