package reload_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

func TestTheLogSaysWhyACacheWasTaken(t *testing.T) {
	t.Parallel()
	dir, fake := t.TempDir(), new(reloadtest.Fake)
	push(fake, "content")
	var lines logs
	start := func() {
		c, _ := newTexts()
		succeeds(t, reload.New(c, reload.Cache(fake, dir), load, reload.Options{Logger: lines.logger(slog.LevelInfo)}), c, "content")
	}
	start()
	fake.Fail(errBad)
	start()
	all := lines.all()
	if len(all) != 3 || strings.Contains(all[0], "stale") || !strings.Contains(all[1], `stale="the origin was not asked yet"`) || !strings.Contains(all[2], "bad row 3 (version 1 stays") {
		t.Errorf("the log is %q", all)
	}
}
