package main

import (
	"fmt"
	"os"
	"strings"
)

// inModel names the bug of the formal model that is the same as a fault. Those
// are planted by `make model-mutants`, which fails unless each is found.
var inModel = map[string]string{
	"A3 after A4: counted after the re-validation":     "count-after-validation",
	"A4: valid if it is live anywhere":                 "validate-by-phase",
	"U2: the swap is a load and a store, and no mutex": "torn-swap",
	"S1: a retiring object is summed":                  "sum-retiring",
	"P1: the push is a load and a store":               "torn-push",
	"P2: no sweeper is started":                        "no-sweeper",
	"A4: no re-validation":                             "no-revalidation",
	"A5: undo through Release":                         "undo-by-release",
	"A5: no check after the undo":                      "no-check-after-undo",
	"R4 before R3: the state is read before the count": "state-before-released",
	"T1: no retiring":                                  "no-retiring",
	"T2: no heavy fence":                               "no-membarrier",
	"T2 before T1: the fence before retiring":          "fence-before-retiring",
	"T2 after T3: the fence after retired":             "retired-before-fence",
	"S2 after S3: acquired is summed first":            "sums-swapped",
	"S4: a store, so that two can win":                 "two-winners",
	"C1: no fence":                                     "no-fence",
	"C2: the phase is not read again after the fence":  "no-reload",
	"G2: no generation":                                "no-generation",
	"G2: counts begin anew in each generation":         "reset-counts",
	"P4: the sweeper does not look again":              "sweep-without-look",
	"B1: a store, so that two can give back":           "give-back-without-cas",
	"U1: a store, so that two can publish":             "publish-without-cas",
}

// checkModelNames sees that both sides of inModel exist.
func checkModelNames() error {
	script, err := os.ReadFile("model/run.sh")
	if err != nil {
		return err
	}
	known := make(map[string]bool)
	for _, f := range faults {
		known[f.name] = true
	}
	for name, bug := range inModel {
		if !known[name] {
			return fmt.Errorf("no fault is called %q", name)
		}
		if !strings.Contains(string(script), "\n"+bug+":") {
			return fmt.Errorf("the model has no bug %q", bug)
		}
	}
	return nil
}
