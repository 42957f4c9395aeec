package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
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

var servingOn = regexp.MustCompile(`serving on (http://\S+)`)

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
	p.url = servingOn.FindStringSubmatch(p.waitLog(t, "serving on"))[1]
	return p
}

// waitLog waits for a line that contains text.
func (p *process) waitLog(t *testing.T, text string) string {
	t.Helper()
	for p.lines.Scan() {
		p.log.WriteString(p.lines.Text() + "\n")
		if strings.Contains(p.lines.Text(), text) {
			return p.lines.Text()
		}
	}
	t.Fatalf("the process ended without saying %q:\n%s", text, &p.log)
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
	checkInOrder(t, p.log.String(), "shutting down", "server stopped", "watcher stopped", "container emptied", "pool trimmed", "final accounts of the pool", " Live:0 ")
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
		{"an unknown flag", []string{"-tabel", "x"}, statusUsage, "flag provided but not defined: -tabel"},
		{"an argument", []string{good}, statusUsage, "unexpected argument"},
		{"a bad interval", []string{"-watch", "often"}, statusUsage, `invalid value "often" for flag -watch`},
		{"a negative interval", []string{"-watch", "-1s"}, statusUsage, "invalid value -1s for flag -watch"},
		{"a negative tolerance", []string{"-overlaps", "-1"}, statusUsage, "invalid value -1 for flag -overlaps"},
		{"a negative duration", []string{"-load", "-1s"}, statusUsage, "invalid value -1s for flag -load"},
		{"an empty file name", []string{"-table", good + ","}, statusUsage, "a file name is empty"},
		{"a missing file", []string{"-table", good + ",/no/such/table.csv"}, statusFailed, "/no/such/table.csv: no such file or directory"},
		{"a broken file", []string{"-table", broken}, statusFailed, broken + ":2: the row has 1 fields, not 4"},
		{"a broken file to measure", []string{"-load", "1h", "-table", broken}, statusFailed, broken + ":2: the row has 1 fields, not 4"},
		{"a bad address", []string{"-table", good, "-addr", "nonsense"}, statusFailed, "missing port in address"},
		{"an address in use", []string{"-table", good, "-addr", taken.Addr().String()}, statusFailed, "address already in use"},
		{"a request for help", []string{"-h"}, statusOK, "Usage of asnlookup"},
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
	p.waitLog(t, "hangup: new table: 500 IPv4 and 500 IPv6 ranges of 1 systems")
	checkLookup(`"asn":2,`)
	replaceFile(t, path, generationCSV(3)+"1.0.0.0\n")
	hangUp()
	p.waitLog(t, path+":401: the row has 1 fields, not 4")
	checkLookup(`"asn":2,`)

	_, body, err := fetch(p.url + "/debug/vars")
	var vars struct {
		Own struct {
			Lookups, Reloads, ReloadsFailed int
			Pool                            struct{ Created, Updates, Live, Current int }
		} `json:"asnlookup"`
	}
	if err != nil || json.Unmarshal([]byte(body), &vars) != nil {
		t.Fatalf("/debug/vars is %v, %s", err, body)
	}
	if got := vars.Own; got.Lookups != 3 || got.Reloads != 2 || got.ReloadsFailed != 1 || got.Pool.Created != 2 || got.Pool.Updates != 2 || got.Pool.Live != 2 || got.Pool.Current != 1 {
		t.Errorf("/debug/vars shows %+v", got)
	}
	p.end(t, syscall.SIGTERM)
}

func TestTheProcessSeesAChangedFileAndEndsOnSIGINT(t *testing.T) {
	needSignals(t)
	path := tempTable(t, generationCSV(1))
	p := startProcess(t, "-table", path, "-watch", "5ms")
	replaceFile(t, path, generationCSV(2))
	p.waitLog(t, "the table changed: new table: 500 IPv4")
	p.end(t, os.Interrupt)
}

func TestTheProcessServesASyntheticTable(t *testing.T) {
	needSignals(t)
	p := startProcess(t)
	status, body, err := fetch(p.url + "/lookup?ip=2001::1")
	if err != nil || status != 200 || !strings.Contains(body, "generation 1000001") {
		t.Errorf("%d %s, %v", status, body, err)
	}
	p.end(t, syscall.SIGTERM)
}

func TestTheProcessMeasures(t *testing.T) {
	cmd := command(t, "-load", "10ms", "-table", tempTable(t, generationCSV(2)))
	cmd.Stderr = io.Discard
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(out), "table ") || !strings.Contains(string(out), "\nreads per second ") {
		t.Errorf("%v; the report is %s", err, out)
	}
}
