package reloadtest_test

import (
	"io"
	"testing"

	"github.com/poolswap/poolswap/reload/reloadtest"
)

// A test may use the slice that it pushed again.
func TestTheFakeKeepsACopyOfWhatWasPushed(t *testing.T) {
	t.Parallel()
	fake, pushed := new(reloadtest.Fake), []byte("first")
	fake.Push(pushed)
	copy(pushed, "other")
	content, err := fake.Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer content.Body.Close()
	if text, err := io.ReadAll(content.Body); string(text) != "first" || err != nil {
		t.Errorf("the Fake has %q (%v)", text, err)
	}
}
