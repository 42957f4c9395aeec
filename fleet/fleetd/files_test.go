package main

import "testing"

// A server without files for its store could serve no change, also while each connection
// gets content slowly.
func TestConnectionsLeaveFiles(t *testing.T) {
	for _, test := range []struct{ conns, files, want int }{
		{16_384, 65_536, 16_384}, {16_384, 20_000, 9_872}, {16_384, 1024, 384}, {100, 1024, 100}, {16_384, 100, 1},
	} {
		if got := connsOf(test.conns, test.files); got != test.want {
			t.Errorf("%d connections with %d files are %d, want %d", test.conns, test.files, got, test.want)
		} else if left := test.files - 2*got; got > 1 && left < storeFiles {
			t.Errorf("%d connections and their content leave %d of %d files", got, left, test.files)
		}
	}
}
