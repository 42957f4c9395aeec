package suites_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/suites"
)

// TestMain removes the servers that the suites of fleets have built.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "suites-")
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("TMPDIR", dir)
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// The name of a case says whether replicas keep what they get.
func TestReplicasKeepWhatTheMachineHolds(t *testing.T) {
	for _, s := range suites.All() {
		if s.Name != "fleet" {
			continue
		}
		for _, c := range s.Cases {
			var n, mib int
			if _, err := fmt.Sscanf(c.Name, "replicas=%d/size=%dMiB/", &n, &mib); err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			if kept := strings.HasSuffix(c.Name, "/object=kept"); kept != (2*n*mib <= 8<<10) {
				t.Errorf("%s: kept is %t", c.Name, kept)
			}
		}
		return
	}
	t.Fatal("there is no suite fleet")
}
