package main

import "regexp"

// verdict is the fate of a fault under a layer.
type verdict string

const (
	survived  verdict = "-"
	caught    verdict = "caught"
	hangs     verdict = "hangs"
	sometimes verdict = "not each time"
	unknown   verdict = "unknown instruction" // to the interpreter of the assembly, so nothing is known of the fault
)

// ofInterpreter begins the error of the interpreter for source that it cannot run.
const ofInterpreter = "unknown to the interpreter: "

// isCaught reports whether a person would have learnt of the fault, each time.
func (v verdict) isCaught() bool { return v == caught || v == hangs }

// outcome is a verdict, and which test of which directory failed, if one did.
type outcome struct {
	verdict verdict
	dir     string
	test    string // with its subtests, as go test names them; "" if the output does not say
}

// eachTime tries so often, or until the fault is missed.
func eachTime(times int, try func() (outcome, error)) (outcome, error) {
	first, err := try()
	for i := 1; i < times && err == nil && first.verdict.isCaught(); i++ {
		var again outcome
		if again, err = try(); err == nil && !again.verdict.isCaught() {
			return outcome{verdict: sometimes}, nil
		}
	}
	return first, err
}

var (
	failLine = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)
	runLine  = regexp.MustCompile(`(?m)^=== RUN +(\S+)`)
)

// failed returns the name of the test that the output of go test -v says failed:
// the innermost one, or the last that began if the process did not get to say.
func failed(out []byte) (test string) {
	for _, match := range failLine.FindAllSubmatch(out, -1) {
		if name := string(match[1]); len(name) > len(test) {
			test = name
		}
	}
	if begun := runLine.FindAllSubmatch(out, -1); test == "" && len(begun) > 0 {
		test = string(begun[len(begun)-1][1])
	}
	return test
}
