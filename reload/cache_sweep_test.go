package reload_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// A record that cannot be read for a moment does not cost what is kept.
func TestARecordThatCannotBeReadKeepsWhatIsKept(t *testing.T) {
	t.Parallel()
	dir, fake, r, _ := cacheKept(t, "good")
	record := filepath.Join(dir, "kept.json")
	if err := errors.Join(os.Rename(record, record+".aside"), os.Symlink(record, record)); err != nil {
		t.Skip(err)
	}
	push(fake, "bad")
	failsWith(t, r, reload.Loading)
	if err := os.Rename(record+".aside", record); err != nil {
		t.Fatal(err)
	}
	fake.Fail(errDown)
	cacheRestarts(t, fake, dir, "good")
}
