package machine_test

import (
	"testing"

	"github.com/poolswap/poolswap/internal/test/machine"
)

// ended is a test that notes how it ended.
type ended struct {
	testing.TB
	how string
}

func (*ended) Helper()        {}
func (e *ended) Fatal(...any) { e.how += "failed " }
func (e *ended) Skip(...any)  { e.how += "skipped " }

func TestATestIsSkippedUnlessNoneMayBe(t *testing.T) {
	for value, want := range map[string]string{"": "skipped ", "1": "failed skipped "} { // Fatal of a real test does not return
		t.Setenv("POOLSWAP_NO_SKIP", value)
		e := &ended{TB: t}
		if machine.Lacks(e, "a reason"); e.how != want {
			t.Errorf("POOLSWAP_NO_SKIP %q: the test %s, want %s", value, e.how, want)
		}
	}
}
