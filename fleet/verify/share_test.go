package verify

import (
	"fmt"
	"slices"
	"testing"
)

// It is not always the same replicas that take the risk of a canary.
func TestEachCanaryHasReplicasOfItsOwn(t *testing.T) {
	m, ok := newTeam(t, 0), changed(t)
	m.publish(t, "stable")
	conn := m.dial()
	const replicas = 40
	for i := range replicas {
		putReport(t, conn, fmt.Sprintf("table.%d", i), fmt.Sprintf(`{"id":"%d"}`, i))
	}
	var before []string
	for i := range 3 {
		next := m.storeContent(t, fmt.Sprint(i))
		plan := ok(m.Canary(t.Context(), next.ID, 0.5, ""))
		if len(plan.CanaryIDs) != replicas/2 || slices.Equal(plan.CanaryIDs, before) {
			t.Errorf("canary %d has %q, the one before had %q", i, plan.CanaryIDs, before)
		}
		if again := ok(m.Canary(t.Context(), next.ID, 0.5, "")); !slices.Equal(again.CanaryIDs, plan.CanaryIDs) {
			t.Errorf("canary %d has other replicas the second time", i)
		}
		before = plan.CanaryIDs
	}
}
