package main

import (
	"os"
	"strings"
	"testing"
)

func Example() {
	main()
	// Output:
	// 1 <nil>
	// 2 <nil>
	// 0 no hosts
	// a reader that began before: [a.example]
	// a reader that begins now: [b.example c.example]
	// objects that readers still hold: 0
	// closed: <nil> 0 objects left
}

// TestTheREADMEQuotesThisProgram compares the quick start with the source.
func TestTheREADMEQuotesThisProgram(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "\n```go\n"+string(program)+"```\n") {
		t.Error("the quick start in README.md is not main.go")
	}
}
