// Package copies is read by TestVetSeesCopies: go vet must report each function.
package copies

import "github.com/poolswap/poolswap/typedpool"

func copyPool(p *typedpool.Pool[int]) { q := *p; q.Put(new(int)) }

func copyBuffers(p *typedpool.Buffers) { q := *p; q.Put(nil) }

func copySlices(p *typedpool.Slices[int]) { q := *p; q.Put(nil) }
