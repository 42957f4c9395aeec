// Package gate says whether this library reads slower than in a run that was
// kept, of the same processor.
package gate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/poolswap/poolswap/bench/internal/report"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

const (
	unit = "ns/op"

	// tolerated is the loss that is not reported, however certain.
	tolerated = 0.10

	// alpha is the chance that a run without any loss fails, all comparisons
	// together.
	alpha = 0.05

	// repeats is in how many more runs a loss must last.
	repeats = 2

	// Least is the number of samples below which no loss is ever certain.
	Least = 8

	// yardstick is the rival that both runs have and that this library cannot
	// change: where it has become slower too, the machine has.
	yardstick = "RWMutexRef"
)

// ours are the rivals that are code of this library.
var ours = []string{"PoolSwap", "WithAcquire", "Reader.Load", "Portable"}

// Loss is one way to read that has become slower.
type Loss struct {
	Suite, Case, Rival string
	Before, After      float64 // the medians
}

// Compare returns the losses of a run against the one that was kept, and how
// many figures it compared.
func Compare(fresh, kept *runner.Run) (losses []Loss, compared int) {
	type pair struct{ after, before *runner.Series }
	var pairs []pair
	for _, after := range fresh.Series {
		before := kept.Find(after.Suite, after.Case, after.Rival)
		if slices.Contains(ours, after.Rival) && len(after.Values[unit]) > 0 && len(before.Values[unit]) > 0 {
			pairs = append(pairs, pair{after, before})
		}
	}
	slower := func(after, before []float64) bool {
		most := slices.Clone(before)
		for i := range most {
			most[i] *= 1 + tolerated
		}
		return runner.Median(after) > runner.Median(most) && runner.Chance(after, most) < alpha/float64(len(pairs))
	}
	for _, p := range pairs {
		after, before := p.after.Values[unit], p.before.Values[unit]
		if slower(after, before) && slower(byYardstick(fresh, p.after), byYardstick(kept, p.before)) {
			losses = append(losses, Loss{p.after.Suite, p.after.Case, p.after.Rival, runner.Median(before), runner.Median(after)})
		}
	}
	return losses, len(pairs)
}

// byYardstick returns the values of a series as multiples of the yardstick's in
// the same round, and as they are where the run has no yardstick.
func byYardstick(run *runner.Run, s *runner.Series) []float64 {
	multiples, base := slices.Clone(s.Values[unit]), run.Values(s.Suite, s.Case, yardstick, unit)
	if len(base) >= len(multiples) {
		for i := range multiples {
			multiples[i] /= base[i]
		}
	}
	return multiples
}

// ErrLoss is the error of Check where a way to read has become slower.
var ErrLoss = errors.New("slower than in the run that was kept")

// Check compares a run with the one that the folder has of the same processor
// and tells the outcome. If there is a loss it measures again: the samples of one
// run share the state of the machine meanwhile, so one run proves little. It
// returns ErrLoss if a loss lasts, and nil where there is nothing to compare with.
func Check(w io.Writer, folder string, fresh *runner.Run, again func() (*runner.Run, error)) error {
	say := func(format string, values ...any) { _, _ = fmt.Fprintf(w, "gate: "+format+"\n", values...) }
	path := filepath.Join(folder, fresh.Machine.Slug())
	kept, err := runner.ReadKept(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		say("nothing to compare with: there is no %s; -keep %s writes it", path, folder)
		return nil
	case err != nil:
		return err
	case kept.Machine.Cores != fresh.Machine.Cores || kept.Machine.Counting != fresh.Machine.Counting:
		say("nothing to compare with: %s is of %d cores and %s counting", path, kept.Machine.Cores, kept.Machine.Counting)
		return nil
	}
	losses, compared := Compare(fresh, kept)
	for range repeats {
		if len(losses) == 0 {
			break
		}
		say("%d of %d figures lost more than %.0f %%; measuring again, to see whether they last", len(losses), compared, 100*tolerated)
		run, err := again()
		if err != nil {
			return err
		}
		now, _ := Compare(run, kept)
		losses = slices.DeleteFunc(now, func(l Loss) bool {
			return !slices.ContainsFunc(losses, func(before Loss) bool {
				return before.Suite == l.Suite && before.Case == l.Case && before.Rival == l.Rival
			})
		})
	}
	for _, l := range losses {
		say("%s, %s, %s: %s, and before %s (%s)", l.Suite, l.Case, l.Rival, report.Format(l.After, unit), report.Format(l.Before, unit), report.FormatRatio(l.After/l.Before))
	}
	say("%d of %d figures lost more than %.0f %% for good, against a run of %s, %.10s", len(losses), compared, 100*tolerated, kept.Machine.Go, kept.Started)
	if len(losses) > 0 {
		return ErrLoss
	}
	return nil
}
