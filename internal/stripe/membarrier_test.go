package stripe_test

import (
	"errors"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
	"github.com/poolswap/poolswap/internal/test/machine"
)

var errFence = errors.New("refused")

func TestABuildWithoutPlainCountingIsNeverAsymmetric(t *testing.T) {
	if stripe.Asymmetric() && !seam.CanCountPlain {
		t.Error("asymmetric in a build that must not count plainly")
	}
}

func TestTheModeBelongsToTheCounters(t *testing.T) {
	if !stripe.Asymmetric() {
		if seam.CanCountPlain {
			machine.Lacks(t, "this kernel has no membarrier")
		}
		t.Skip("this build has portable counters only")
	}
	before := stripe.New(false)
	restore := stripe.FailMembarrier(errFence)
	if !stripe.Asymmetric() {
		t.Error("the mode changed before a fence failed")
	}
	if err := stripe.New(true).HeavyFence(); err != nil || !stripe.Asymmetric() {
		t.Errorf("portable counters called membarrier: %v", err)
	}
	if err := before.HeavyFence(); !errors.Is(err, errFence) {
		t.Errorf("the fence returned %v", err)
	}
	after := stripe.New(false)
	if stripe.Asymmetric() || after.CountsPlain() {
		t.Error("counters made after the failure are plain")
	}
	if err := after.HeavyFence(); err != nil {
		t.Errorf("the fence of counters made after the failure: %v", err)
	}
	if !before.CountsPlain() {
		t.Error("existing counters changed their mode")
	}
	restore()
	if !stripe.Asymmetric() || !stripe.New(false).CountsPlain() {
		t.Error("restore did not restore the asymmetric mode")
	}
	if err := before.HeavyFence(); err != nil {
		t.Errorf("after restore the fence returned %v", err)
	}
}

func TestOutstandingSurvivesAFailedFence(t *testing.T) {
	c := stripe.New(false)
	k := seam.Pin()
	c.CountAcquired(k)
	seam.Unpin()
	defer stripe.FailMembarrier(errFence)()
	if got := c.Outstanding(); got != 1 {
		t.Errorf("%d outstanding, want 1", got)
	}
	if stripe.Asymmetric() {
		t.Error("Outstanding asked for no fence")
	}
}
