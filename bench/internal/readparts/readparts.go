// Package readparts has what a counted read is made of on linux/amd64, each part in a
// loop of its own: what calls of assembly cost, finding the processor, and
// counting there. Nothing is shared, so it shows what is left for checks.
package readparts

// Part is a part of a read.
type Part struct {
	Name string
	Loop func(n int) // does it n times, as the two calls of a read
}
