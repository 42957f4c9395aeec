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
	// 0 netip.ParsePrefix("typo"): no '/'
	// [192.0.2.0/24]
	// [198.51.100.0/24 10.0.0.0/8]
	// <nil> 0
}

// TestQuickStart compares the quick start with the source, and the comments that show the output of a line with the output above.
func TestQuickStart(t *testing.T) {
	program, readme, test := read(t, "main.go"), read(t, "../../README.md"), read(t, "main_test.go")
	if !strings.Contains(readme, "\n```go\n"+program+"```\n") {
		t.Error("the quick start in README.md is not main.go")
	}
	_, output, _ := strings.Cut(test, "// Output:\n")
	output, _, _ = strings.Cut(output, "}\n")
	for line := range strings.Lines(output) {
		if !strings.Contains(program, strings.TrimSpace(line)) {
			t.Errorf("no line of main.go shows its output %s", line)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
