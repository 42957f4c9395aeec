package main

import (
	"strings"
	"testing"
)

// TestTheDemo runs all of it: real processes, a table that is made up.
func TestTheDemo(t *testing.T) {
	var out strings.Builder
	answers, err := run(t.Context(), options{rows: 2000, askers: 2}, &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, id := range []string{"r1", "r2", "r3"} {
		got := answers.tally(id)
		if got.failed != 0 || got.mixed != 0 || id != "r3" && got.away != 0 {
			t.Errorf("%s: %v", id, got)
		}
		for e := 1; e <= editions; e++ {
			if got.editions[e] < enough/2 {
				t.Errorf("%s gave %d answers from edition %d", id, got.editions[e], e)
			}
		}
	}
	for _, line := range []string{
		"The table is made up.",
		"fleetd promote: exit status 1: fleet: asn: the canary is on hold: ", "wrong number of fields",
		"fleetd publish: exit status 1: fleetd: nats://127.0.0.1:",
		"r3 serves from its spool. It says that it is stale: ",
		"No answer failed, and none was mixed.",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("the demo does not say %q:\n%s", line, out.String())
		}
	}
}
