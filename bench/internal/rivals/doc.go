// Package rivals holds the ways to share one heavy object between readers and
// a writer who replaces it, each written as well as it can be, behind one
// interface.
package rivals
