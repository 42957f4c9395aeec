package main

import "testing"

// A server without files for its store could serve no change, also while as many as may
// get content slowly.
func TestConnectionsLeaveFiles(t *testing.T) {
	for _, test := range []struct{ conns, files, want, downloads int }{
		{16_384, 65_536, 16_384, 16_384}, {16_384, 20_000, 14_744, 5000}, {16_384, 1024, 512, 256}, {100, 1024, 100, 100}, {16_384, 100, 1, 1},
	} {
		got, downloads := connsOf(test.conns, test.files)
		if got != test.want || downloads != test.downloads {
			t.Errorf("%d connections with %d files are %d, %d with content, want %d, %d", test.conns, test.files, got, downloads, test.want, test.downloads)
		} else if left := test.files - got - downloads; got > 1 && left < storeFiles {
			t.Errorf("%d connections, %d with content, leave %d of %d files", got, downloads, left, test.files)
		}
	}
}
