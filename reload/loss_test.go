package reload_test

import (
	"testing"

	"github.com/poolswap/poolswap/reload"
)

func TestCheckLoss(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, after int
		most          float64
		want          string
	}{
		{0, 0, 0.5, ""},
		{0, 10, 0, ""},
		{10, 20, 0, ""},
		{10, 10, 0, ""},
		{10, 5, 0.5, ""},
		{10, 4, 0.5, "4 of 10 rows are left, more than 50 % lost: was the table cut short?"},
		{10, 9, 0, "9 of 10 rows are left, more than 0 % lost: was the table cut short?"},
		{1000, 0, 0.125, "0 of 1000 rows are left, more than 12.5 % lost: was the table cut short?"},
		{1000, 0, 1, ""},
	} {
		got := ""
		if err := reload.CheckLoss(test.before, test.after, test.most); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("CheckLoss(%d, %d, %g) is %q, want %q", test.before, test.after, test.most, got, test.want)
		}
	}
}
