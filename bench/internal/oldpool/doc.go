// Package oldpool is sync.Pool as it was, written afresh from its description,
// to measure what its history tells: [Locked], as up to Go 1.12, and [Chained],
// as since Go 1.13. Both keep, for each P, the right to run Go code, one private
// object and some shared ones that other P's may take. They differ in how the
// shared ones are kept, and in what a garbage collection leaves of them.
//
// The runtime empties a sync.Pool at the start of a collection, with the world
// stopped. That hook belongs to it alone; here a cleanup does it soon after the
// end of the collection.
package oldpool
