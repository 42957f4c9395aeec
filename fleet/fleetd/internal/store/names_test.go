package store_test

import (
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

func FuzzToken(f *testing.F) {
	for _, name := range []string{"", "asn", "a.b", "*", ">", "=", "=2E", "=2e", "=", "a=", "=4", "=41", "tab\tle", "ü/\xff\x00", "$JS.API", "x y"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		token := store.NameToken(name)
		if strings.ContainsAny(token, ".*>$/ \t\r\n") {
			t.Errorf("the token of %q is %q", name, token)
		}
		if got, ok := store.FromToken(token); !ok || got != name {
			t.Errorf("the token of %q is %q, which is %q, %t", name, token, got, ok)
		}
		// Whatever is taken for a token is the one of a name.
		if got, ok := store.FromToken(name); ok && store.NameToken(got) != name {
			t.Errorf("%q is taken for the token of %q, which has %q", name, got, store.NameToken(got))
		}
	})
}
