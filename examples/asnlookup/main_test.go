package main

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// beMain in the environment makes the test binary the program itself: so the
// tests of the process run what is tested, race detector and all.
const beMain = "ASNLOOKUP_TEST_BE_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(beMain) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func command(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), beMain+"=1")
	return cmd
}

// process is the program, serving.
type process struct {
	*exec.Cmd
	url   string
	lines *bufio.Scanner // of what it logs
	log   strings.Builder
}

func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: command(t, append(args, "-addr", "127.0.0.1:0")...)}
	logged, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(logged)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	p.url = p.waitLog(t, "serving url=", "http://")
	return p
}

// waitLog waits for a line that contains start, and fails unless what follows
// contains text.
func (p *process) waitLog(t *testing.T, start, text string) string {
	t.Helper()
	for p.lines.Scan() {
		p.log.WriteString(p.lines.Text() + "\n")
		if _, rest, found := strings.Cut(p.lines.Text(), start); found {
			if !strings.Contains(rest, text) {
				t.Fatalf("the log says %q, want %q", p.lines.Text(), text)
			}
			return rest
		}
	}
	t.Fatalf("the process ended without saying %q:\n%s", start, &p.log)
	return ""
}

// end sends a signal and checks that the process ends in order.
func (p *process) end(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	for p.lines.Scan() {
		p.log.WriteString(p.lines.Text() + "\n")
	}
	if err := p.Wait(); err != nil {
		t.Errorf("the process ended with %v:\n%s", err, &p.log)
	}
	checkInOrder(t, p.log.String(), "shutting down", "server stopped", "reloads stopped", "pool at exit", " Live:0 ")
}

func needSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals cannot be sent to a process here")
	}
}

func TestABadCommandLineEndsWithAMessage(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	good := tempTable(t, generationCSV(1))
	broken := tempTable(t, "1.0.0.0,1.0.0.9,1,x\n1.0.0.0\n")
	for _, c := range []struct {
		name   string
		args   []string
		status int
		says   string
	}{
		{"an unknown flag", []string{"-tabel", "x"}, 2, "flag provided but not defined: -tabel"},
		{"no table", nil, 2, "give a -table"},
		{"an argument", []string{"-table", good, good}, 2, "and no other arguments"},
		{"a bad interval", []string{"-watch", "often"}, 2, `invalid value "often" for flag -watch`},
		{"a negative share", []string{"-max-shrink", "-1"}, 2, `invalid value "-1" for flag -max-shrink`},
		{"a missing file", []string{"-table", good, "-table", "/no/such/table.csv"}, 1, "/no/such/table.csv: no such file or directory"},
		{"a broken file", []string{"-table", broken}, 1, broken + ":2: the row has fewer than four fields"},
		{"a bad address", []string{"-table", good, "-addr", "nonsense"}, 1, "missing port in address"},
		{"an address in use", []string{"-table", good, "-addr", taken.Addr().String()}, 1, "address already in use"},
		{"a request for help", []string{"-h"}, 0, "-max-shrink percent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := command(t, c.args...)
			said, _ := cmd.CombinedOutput() // the status says more than the error
			if status := cmd.ProcessState.ExitCode(); status != c.status || !strings.Contains(string(said), c.says) {
				t.Errorf("status %d, want %d; it said %q, want %q", status, c.status, said, c.says)
			}
		})
	}
}

func TestTheProcessReloadsOnSIGHUPAndEndsOnSIGTERM(t *testing.T) {
	needSignals(t)
	path := tempTable(t, generationCSV(1))
	p := startProcess(t, "-table", path, "-watch", "0")
	checkLookup := func(want string) {
		t.Helper()
		status, body, err := fetch(p.url + "/lookup?ip=2001:db8::1")
		if err != nil || status != 200 || !strings.Contains(body, want) {
			t.Errorf("%d %s, %v; want %s", status, body, err, want)
		}
	}
	hangUp := func() {
		t.Helper()
		if err := p.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	checkLookup(`"asn":1,`)
	replaceFile(t, path, generationCSV(2))
	hangUp()
	p.waitLog(t, "reload: loaded", "version=2 ")
	checkLookup(`"asn":2,`)
	replaceFile(t, path, generationCSV(2)+"1.0.0.0\n")
	hangUp()
	p.waitLog(t, "reload: failed", path+":1001: the row has fewer than four fields")
	replaceFile(t, path, generationCSV(3))
	hangUp()
	p.waitLog(t, "reload: failed", "400 of 1000 rows are left, more than 10 % lost")
	checkLookup(`"asn":2,`)

	for path, says := range map[string]string{"/debug/vars": `"asnlookup": {"Answers": {"200": 3}`, "/status?format=json": `"failures": 2`} {
		if status, body, err := fetch(p.url + path); err != nil || status != 200 || !strings.Contains(body, says) {
			t.Errorf("%s is %d %s, %v", path, status, body, err)
		}
	}
	p.end(t, syscall.SIGTERM)
}

func TestTheProcessSeesAChangedFileAndEndsOnSIGINT(t *testing.T) {
	needSignals(t)
	path := tempTable(t, generationCSV(1))
	p := startProcess(t, "-table", path, "-watch", "5ms")
	replaceFile(t, path, generationCSV(2))
	p.waitLog(t, "reload: loaded", "version=2 ")
	p.end(t, os.Interrupt)
}
