//go:build poolswapsched

package stripe

import "github.com/poolswap/poolswap/internal/seam"

// Stripes returns how many stripes there are, with the overflow.
func (c *Counters) Stripes() int { return c.owned + 1 }

// Counts returns the counters of stripe k, for a test that names them.
func (c *Counters) Counts(k int) (acquired, released *seam.Count) {
	return &c.at(k).acquired, &c.at(k).released
}
