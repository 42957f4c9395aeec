package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/poolswap/poolswap/reload"
)

// filesOf returns the files of one table as one Source: each is a part.
func filesOf(paths []string) reload.Source {
	var files []reload.Source
	for _, path := range paths {
		files = append(files, reload.File(path))
	}
	return reload.Join(files...)
}

// loader makes tables of their files. One load runs at a time.
type loader struct {
	maxShrink int // percent of the ranges that the next table may lack
	parser    *parser
	log       *slog.Logger
}

// load fills next. It refuses a table that is broken, or much smaller than
// current: the Reloader then keeps what is current, and gives next back.
func (l *loader) load(_ context.Context, next, current *table, content *reload.Content) error {
	if err := l.parser.read(next, content.Parts); err != nil {
		return err
	}
	if current != nil {
		if err := reload.CheckLoss(len(current.spans), len(next.spans), float64(l.maxShrink)/100); err != nil {
			return fmt.Errorf("%w (-max-shrink 100 accepts it)", err)
		}
	}
	if next.overlaps > 0 {
		l.log.Warn(count(next.overlaps, "overlapping range")+" cut short", "first", l.parser.overlap)
	}
	return nil
}

// count says how many there are of a thing.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
