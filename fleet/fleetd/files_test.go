package main

import "testing"

// A server without files for its store could serve no change.
func TestConnectionsLeaveFiles(t *testing.T) {
	for _, test := range []struct{ conns, files, want int }{
		{16_384, 65_536, 16_384}, {16_384, 20_000, 14_744}, {16_384, 1024, 512}, {100, 1024, 100}, {16_384, 100, 1},
	} {
		if got := connsOf(test.conns, test.files); got != test.want {
			t.Errorf("%d connections with %d files are %d, want %d", test.conns, test.files, got, test.want)
		}
	}
}
