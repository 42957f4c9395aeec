//go:build linux

package verify

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// slowDisk delays each fsync of the node until the function that it returns is called. Where
// a process must not be traced, it skips the test.
func (n *node) slowDisk(delay time.Duration) (end func()) {
	n.t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		n.t.Skip("there is no strace")
	}
	inject := fmt.Sprintf("inject=fsync,fdatasync:delay_exit=%d", delay.Microseconds())
	command := exec.Command(strace, "-f", "-p", fmt.Sprint(n.command.Process.Pid), "-e", "trace=fsync,fdatasync", "-e", inject, "-o", os.DevNull)
	messages := must(command.StderrPipe())(n.t)
	if err := command.Start(); err != nil {
		n.t.Fatal(err)
	}
	end = func() {
		command.Process.Signal(os.Interrupt) // it leaves the node as it was
		command.Wait()
	}
	n.t.Cleanup(end)
	lines := bufio.NewScanner(messages)
	if !lines.Scan() || !strings.Contains(lines.Text(), "attached") {
		n.t.Skipf("strace cannot trace here: %s", lines.Text())
	}
	go func() {
		for lines.Scan() {
		}
	}()
	return end
}

// TestSlowDisk publishes to a server whose disk takes longer than a publication may. The
// server refuses the publication in time and says why. Replicas still read.
func TestSlowDisk(t *testing.T) {
	long(t)
	t.Parallel()
	n := newNode(t)
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	one, plan := m.publish(t, "one")
	old := start(t, n.client(), fleet.SourceOptions{ID: "old"})
	m.await(t, plan)
	end := n.slowDisk(6 * time.Second)
	began := time.Now()
	_, _, err := m.Publish(t.Context(), strings.NewReader("two"), "")
	var refused *fleet.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable || !strings.Contains(refused.Error(), "has answered within") {
		t.Errorf("the publication returned %v", err)
	}
	t.Logf("after %v: %v", time.Since(began), err)
	if got := must(m.Plan(t.Context()))(t); got.Stable != one.ID {
		t.Errorf("the plan has %q, want %q", got.Stable, one.ID)
	}
	start(t, n.client(), fleet.SourceOptions{ID: "new"}).awaitText(t, "one")
	end()
	eventually(t, "a publication is taken", func() bool {
		_, _, err = m.Publish(t.Context(), strings.NewReader("three"), "")
		return err == nil
	})
	old.awaitText(t, "three")
	n.kill()
	n.start()
	if got := must(m.Plan(t.Context()))(t); got.Revisions[got.Stable].Size != int64(len("three")) {
		t.Errorf("after a restart the plan is %+v", got)
	}
	if _, damaged, err := m.client.Verify(t.Context(), "table"); err != nil || len(damaged) > 0 {
		t.Errorf("Verify returned %q and %v", damaged, err)
	}
}
