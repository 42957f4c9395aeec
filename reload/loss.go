package reload

import "fmt"

// CheckLoss returns an error if a table that had before rows has lost more than
// the share most of them, 0.5 for half, and has after rows now: load refuses a
// table that was cut short with it. A table that had no rows can lose none.
func CheckLoss(before, after int, most float64) error {
	if lost := before - after; float64(lost) > most*float64(before) {
		return fmt.Errorf("%d of %d rows are left, more than %g %% lost: was the table cut short?", after, before, 100*most)
	}
	return nil
}
