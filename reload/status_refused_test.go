package reload_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// Once the source has answered that what was refused is still the newest, it is
// that which is wrong, not the failure in between.
func TestWhatIsStillRefusedIsWhatIsWrong(t *testing.T) {
	t.Parallel()
	r, _, fake := refusing(t)
	refused := headlineOf(t, r)
	fake.Fail(errors.New("connection lost"))
	failsWith(t, r, reload.Fetching)
	fake.Fail(nil)
	failsWith(t, r, reload.Loading) // not modified
	if s := r.Status(); !errors.Is(s.Err, errBad) || s.State() != "refused" || s.TotalFailures != 2 {
		t.Errorf("the error is %v, the state %s after %d failures", s.Err, s.State(), s.TotalFailures)
	}
	if now := headlineOf(t, r); now != refused || !strings.Contains(pageOf(t, r), "connection lost") {
		t.Errorf("the headline is %q, and was %q", now, refused)
	}
}
