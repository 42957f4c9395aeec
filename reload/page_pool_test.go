package reload_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

func TestTheJSONHasEachFigureOfThePool(t *testing.T) {
	t.Parallel()
	stats := poolswap.Stats{Live: 1, Current: 2, Retired: 3, Spares: 4, Held: 5, OldestRetired: 6 * time.Second, Lost: 7, Leaked: 8}
	c, _ := newTexts()
	r := reload.New(c, keptThenBad(t, t.TempDir()), load, reload.Options{Logger: quiet, Stats: func() poolswap.Stats { return stats }})
	answer := httptest.NewRecorder()
	r.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/?format=json", nil))
	var got struct{ Pool map[string]float64 }
	if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"live": 1, "current": 2, "retired": 3, "spares": 4, "held": 5, "oldest_retired_seconds": 6, "lost": 7, "leaked": 8}
	if !maps.Equal(got.Pool, want) {
		t.Errorf("the pool is %v, want %v", got.Pool, want)
	}
}

// A failure is what an operator has to know first, whatever the content is from.
func TestThePageSaysWhatFailsWhileTheContentIsFromTheCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fake := keptThenBad(t, dir)
	c, _ := newTexts()
	r := reload.New(c, reload.Cache(fake, dir), load, reload.Options{Logger: quiet})
	fake.Fail(errors.New("down"))
	succeeds(t, r, c, "good")
	push(fake, "bad")
	failsWith(t, r, reload.Loading)
	answer := httptest.NewRecorder()
	r.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	if text := answer.Body.String(); !strings.Contains(text, "The newest content was refused. Version 1 stays.") {
		t.Errorf("the page does not say that content was refused: %s", text)
	}
}

// Only a limit is the readers' doing.
func TestThePageDoesNotBlameReadersForAConflict(t *testing.T) {
	t.Parallel()
	c, pool := newTexts()
	fake := new(reloadtest.Fake)
	push(fake, "content")
	r := reload.New(c, fake, func(context.Context, *text, *text, *reload.Content) error {
		c.Update(pool.Get())
		return nil
	}, reload.Options{Logger: quiet})
	failsWith(t, r, reload.Publishing)
	answer := httptest.NewRecorder()
	r.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	if text := answer.Body.String(); !strings.Contains(text, "The newest content could not be loaded.") {
		t.Errorf("the page says %s", text)
	}
}
