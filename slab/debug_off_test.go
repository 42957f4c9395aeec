//go:build !poolswapdebug

package slab_test

const debugging = false
