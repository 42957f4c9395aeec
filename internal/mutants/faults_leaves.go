package main

// leafFaults are planted in the packages that stand on the root. Only the tests of
// such a package see them.
var leafFaults = []fault{
	{"oplog: a nil View has no EqualFunc", "oplog/view.go", []edit{
		{
			`	if v == nil || other == nil {
		return v.Len() == other.Len()
	}
	return maps.EqualFunc`,
			`	return maps.EqualFunc`,
		},
	}},
	{"oplog: a nil View equals nothing but itself", "oplog/view.go", []edit{
		{
			`return v.Len() == other.Len()`,
			`return v == other`,
		},
	}},
	{"typedpool: an array of pointers is free of them", "typedpool/scribble.go", []edit{
		{
			`return t.Len() == 0 || every(t.Elem(), ok)`,
			`return true`,
		},
	}},
	{"oplog: a Replace that returns an error is no publication", "oplog/log.go", []edit{
		{
			`	if version != 0 {
		l.restart(version)
`,
			`	if version != 0 && err == nil {
		l.restart(version)
`,
		},
	}},
}
