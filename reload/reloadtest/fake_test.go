package reloadtest_test

import (
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

func TestTheFakeConforms(t *testing.T) {
	reloadtest.TestSource(t, func(*testing.T) (reload.Source, reloadtest.Origin) {
		fake := new(reloadtest.Fake)
		return fake, fake
	})
}
