//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

func TestOneServerUsesADirectory(t *testing.T) {
	in := newInstance(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // one that is not refused serves until then
	defer cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"serve", "-addr", "127.0.0.1:0", "-dir", in.dir, "-page", "off"}, &stdout, &stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "another server uses the directory") {
		t.Errorf("a second server ended with %d: %s", code, &stderr)
	}
}
