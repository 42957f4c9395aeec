package reload_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// plantedDeaf is a Waiter that cannot tell.
type plantedDeaf struct{ *reloadtest.Fake }

func (plantedDeaf) Wait(context.Context, string) error { return errDown }

// A Waiter that gives no hints is asked again after Every, and logged each time.
func TestAWaiterThatFailsIsAskedAgainAfterEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		source := plantedDeaf{new(reloadtest.Fake)}
		push(source.Fake, "content")
		var lines logs
		r := reload.New(c, source, load, reload.Options{Every: 10 * time.Minute, Logger: lines.logger(slog.LevelWarn)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		r.Run(ctx)
		if n := len(lines.all()); n < 5 || n > 7 {
			t.Errorf("%d lines in six times Every: %.500q", n, lines.all())
		}
	})
}
