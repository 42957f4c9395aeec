package reload_test

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// What was kept without a check, or with other keys, was not verified by those
// that the service has now.
func TestKeptContentThatOtherChecksVerifiedIsNotUsed(t *testing.T) {
	t.Parallel()
	oldKey, oldPrivate := key(1)
	newKey, _ := key(2)
	signature, sums := new(reloadtest.Fake), new(reloadtest.Fake)
	signature.Push(signed(oldPrivate, "content"))
	push(sums, "%x", sumOf("content"))
	withKeys := func(keys ...ed25519.PublicKey) func(reload.Source) reload.Source {
		return func(source reload.Source) reload.Source { return reload.WithEd25519(source, signature, keys...) }
	}
	plainly := func(source reload.Source) reload.Source { return source }
	summed := func(source reload.Source) reload.Source { return reload.WithSHA256(source, sums) }
	for name, test := range map[string]struct {
		before, now func(reload.Source) reload.Source
		want        string
	}{
		"a key that was withdrawn":         {withKeys(oldKey), withKeys(newKey), ""},
		"a signature where there was none": {plainly, withKeys(oldKey), ""},
		"a checksum where there was none":  {plainly, summed, ""},
		"a signature that was a checksum":  {summed, withKeys(oldKey), ""},
		"the same keys":                    {withKeys(oldKey, newKey), withKeys(oldKey, newKey), "content"},
		"the same keys in another order":   {withKeys(oldKey, newKey), withKeys(newKey, oldKey), "content"},
		"the same checksums":               {summed, summed, "content"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, fake := t.TempDir(), new(reloadtest.Fake)
			push(fake, "content")
			cacheRestarts(t, test.before(fake), dir, "content")
			fake.Fail(errDown)
			r, c := start(test.now(fake), dir, reload.Options{})
			if err := r.Reload(t.Context()); test.want == "" && !strings.Contains(textOf(err), "other checks") {
				t.Errorf("Reload returned %v", err)
			}
			is(t, c, test.want)
		})
	}
}
