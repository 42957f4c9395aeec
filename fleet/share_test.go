package fleet_test

import (
	"testing"

	"github.com/poolswap/poolswap/fleet"
)

func TestAShareIsRoundedUpAndNoFurther(t *testing.T) {
	for _, test := range []struct {
		n     int
		share float64
		want  int
	}{{100, 0.07, 7}, {50, 0.14, 7}, {100, 0.56, 56}, {100, 0.071, 8}, {3, 0.34, 2}, {3, 0.001, 1}, {10, 1, 10}} {
		if got := len(fleet.Choose(make([]fleet.Report, test.n), "salt", test.share)); got != test.want {
			t.Errorf("%g of %d are %d, want %d", test.share, test.n, got, test.want)
		}
	}
}
