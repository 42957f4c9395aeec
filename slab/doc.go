// Package slab holds strings, and maps of strings, in memory that Reset recycles:
// the objects of a [github.com/poolswap/poolswap.Pool] that are loaded again and
// again without an allocation, and that cost the garbage collector next to nothing.
//
// [Strings] is a map of strings to strings, [Map] a map of strings to values of
// another type, and [Bytes] strings alone. The zero value of each is empty and ready.
//
// # Lifetime
//
// A string that comes from a slab is valid until Reset or CopyFrom of its slab. In a
// pooled object whose reset calls Reset, that is until the Release: a reader that
// keeps a string longer clones it, by strings.Clone. A string that is kept too long
// changes under its holder. So does one that a writer of a map got and keeps while it
// changes the map, once Compact, or two compactions by Set or SetAll, have moved the
// strings. A build with the tag poolswapdebug finds both: see
// [Finding a string that is kept too long].
//
// # Goroutines
//
// One writer fills a slab; any number of goroutines read it once nobody writes. It
// needs what publishing an object gives: what the writer did before Update is seen
// by each reader that acquired the object.
//
// [Finding a string that is kept too long]: https://github.com/poolswap/poolswap/blob/main/docs/slab.md
package slab
