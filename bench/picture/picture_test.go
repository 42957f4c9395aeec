package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

func TestPicturesAreOfTheKeptRun(t *testing.T) {
	drawn, err := drawAll("../" + kept)
	if err != nil {
		t.Fatal(err)
	}
	for name, picture := range drawn {
		committed, err := os.ReadFile(filepath.Join("..", images, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(committed, picture) {
			t.Errorf("%s is not drawn from %s: go run -C bench ./picture draws it again", name, kept)
		}
	}
}

func TestDrawRefusesARunWithoutItsFigures(t *testing.T) {
	single := "goos: linux\ngoarch: amd64\n\nBenchmarkScaling/goroutines=1/writer=none/rival=PoolSwap-2 1 7 ns/op\n"
	run, err := runner.ReadText(strings.NewReader(single), "single")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := drawReads(run, light); err == nil || !strings.Contains(err.Error(), "no reads of PoolSwap") {
		t.Errorf("drawReads returns %v", err)
	}
	if _, err := drawDeltas(run, light); err == nil || !strings.Contains(err.Error(), "no p50-ns") {
		t.Errorf("drawDeltas returns %v", err)
	}
}

func TestTitleSaysWhatWasMeasured(t *testing.T) {
	run, err := runner.ReadKept("../" + kept + "/scaling")
	if err != nil {
		t.Fatal(err)
	}
	for rival, grows := range map[string]bool{"PoolSwap": true, "RWMutex": false, "RWMutexRef": false} {
		points, err := curve(run, rival, "none")
		if err != nil {
			t.Fatal(err)
		}
		if first, last := points[0].Y, points[len(points)-1].Y; last > first != grows {
			t.Errorf("%s: %.0f million reads a second become %.0f", rival, first, last)
		}
	}
}
