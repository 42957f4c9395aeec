//go:build linux

package verify

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// mostMemory bounds the memory of a server that is attacked.
const mostMemory = 500 << 10 // KiB

// TestFloods attacks a server as a stranger, as the holder of the token of one replica,
// of one for many and of a reader. Meanwhile a publisher publishes and a replica follows.
func TestFloods(t *testing.T) {
	long(t)
	noLeak(t)
	n := newNode(t, "-page")
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	_, plan := m.publish(t, "begin")
	good := start(t, n.client(), fleet.SourceOptions{ID: "good"})
	token := func(role fleet.Role, ids string) string {
		return must(n.client().NewToken(t.Context(), fleet.Token{Name: "eve", Role: role, Names: "table", IDs: ids}))(t).Text
	}
	one, many, reader := token(fleet.ReplicaRole, "evil"), token(fleet.ReplicaRole, "evil-*"), token(fleet.ReaderRole, "")
	get := func(path, token string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: fleet\r\nAuthorization: Bearer " + token + "\r\n\r\n"
	}
	f := &flood{node: n}
	for _, attack := range []struct {
		name string
		run  func(ctx context.Context)
		sane func() error // of the answers
	}{
		{"headers that do not end", f.connections("GET /v1/names HTTP/1.1\r\nX: " + strings.Repeat("x", 19_000)), nil},
		{"connections without a request", f.connections("GET /v1/names HTTP/1.1\r\n"), nil},
		{"logins that do not end", f.connections("POST /login HTTP/1.1\r\nHost: " + n.address +
			"\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\ntoken=" + strings.Repeat("x", 40_000)), nil},
		{"idle connections of one token", f.connections(get("/v1/names/table/plan", one)), nil},
		{"polls of one token", f.connections(get(fmt.Sprintf("/v1/names/table/plan?wait=60s&after=%d.1", plan.Epoch+1<<40), one)), func() error {
			if polls := f.peak.Load(); polls > 8+1 { // and that of the replica
				return fmt.Errorf("%d polls were open", polls)
			}
			return nil
		}},
		{"reports of one replica", f.requests(50, func(int, int) (string, string, string) {
			return one, "/v1/names/table/replicas/evil", `{"every_ns": 1000000000, "epoch": 9007199254740991, "error": "` + strings.Repeat("x", 8000) + `"}`
		}), func() error {
			if n := f.count(http.StatusTooManyRequests); n == 0 {
				return fmt.Errorf("all reports were taken")
			}
			return nil
		}},
		{"reports of many replicas", f.requests(50, func(worker, i int) (string, string, string) {
			return many, fmt.Sprintf("/v1/names/table/replicas/evil-%d-%d", worker, i), `{"every_ns": 300000000000, "error": "` + strings.Repeat("x", 8000) + `"}`
		}), nil},
		{"a reader of the status", f.requests(120, func(int, int) (string, string, string) {
			return reader, "/v1/names/table/status?limit=1000", ""
		}), func() error {
			if n := f.count(http.StatusOK); n == 0 {
				return fmt.Errorf("the answers are %v", f.counts)
			}
			return nil
		}},
	} {
		t.Run(attack.name, func(t *testing.T) {
			f.test(t, m, good, attack.run)
			if attack.sane != nil {
				if err := attack.sane(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if plan := must(m.Plan(t.Context()))(t); plan.Change.Kind != fleet.KindPublish {
		t.Errorf("the last change is %+v", plan.Change)
	}
}

// TestFloodOverTLS holds connections in the middle of a header, after a handshake or behind
// a request, where they cost the most.
func TestFloodOverTLS(t *testing.T) {
	long(t)
	noLeak(t)
	ca := newAuthority(t)
	cert, key := ca.issue("server")
	n := &node{t: t, dir: filepath.Join(t.TempDir(), "data"), ca: ca.file, args: []string{"-cert", cert, "-key", key}}
	n.start()
	t.Cleanup(n.kill)
	n.awaitToken(n.token())
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	m.publish(t, "begin")
	good := start(t, n.client(), fleet.SourceOptions{ID: "good"})
	f := &flood{node: n}
	header := "GET /v1/names HTTP/1.1\r\nHost: fleet\r\nX: " + strings.Repeat("x", 7900)
	f.test(t, m, good, f.connections(header))
	f.test(t, m, good, f.connections("GET /healthz HTTP/1.1\r\nHost: fleet\r\n\r\n"+header))
}

// test publishes to a replica during an attack, and looks at the memory of the server.
func (f *flood) test(t *testing.T, m *team, good *replica, attack func(ctx context.Context)) {
	t.Helper()
	f.reset()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		attack(ctx)
	}()
	for i, during := 0, true; during; i++ {
		select {
		case <-ended:
			during = false
		default:
		}
		text := fmt.Sprint(t.Name(), " ", i)
		m.publish(t, text)
		good.awaitText(t, text)
		f.look(t)
	}
	kib := f.node.memory(t)
	t.Logf("the server had up to %d MiB", kib>>10)
	if kib > mostMemory {
		t.Errorf("the server had %d KiB", kib)
	}
}

// memory returns the most memory that the process had, in KiB.
func (n *node) memory(t testing.TB) (kib int) {
	t.Helper()
	status := must(os.ReadFile(fmt.Sprintf("/proc/%d/status", n.command.Process.Pid)))(t)
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(after, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}

// anyone is for attackers, who trust any server.
var anyone = &tls.Config{InsecureSkipVerify: true}

// flood attacks a node.
type flood struct {
	node *node
	peak atomic.Int64 // of open polls

	mu     sync.Mutex
	counts map[int]int // answers by status
}

func (f *flood) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts = map[int]int{}
	f.peak.Store(0)
}

func (f *flood) count(status int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[status]
}

// look takes the number of open polls.
func (f *flood) look(t *testing.T) {
	t.Helper()
	request := must(http.NewRequestWithContext(t.Context(), http.MethodGet, f.node.url()+"/metrics", nil))(t)
	admin := must(os.ReadFile(f.node.token()))(t)
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(admin)))
	request.Close = true
	client := http.Client{Transport: &http.Transport{TLSClientConfig: anyone}}
	response, err := client.Do(request)
	if err != nil {
		return // the server makes room
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	_, after, ok := strings.Cut(string(text), "\nfleetd_open_polls ")
	var polls int64
	if _, err := fmt.Sscan(after, &polls); ok && err == nil {
		f.peak.Store(max(f.peak.Load(), polls))
	}
}

// connections returns an attack by as many connections as this process may have, each
// opened again when the server closes it.
func (f *flood) connections(text string) func(ctx context.Context) {
	return func(ctx context.Context) {
		var files syscall.Rlimit
		syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files)
		var all sync.WaitGroup
		for range min(12_000, int(files.Cur)/2) {
			all.Go(func() {
				for ctx.Err() == nil {
					f.connection(ctx, text)
				}
			})
		}
		all.Wait()
	}
}

func (f *flood) connection(ctx context.Context, text string) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", f.node.address)
	if err != nil {
		return
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if f.node.ca != "" {
		conn = tls.Client(conn, anyone)
	}
	io.WriteString(conn, text)
	io.Copy(io.Discard, conn)
}

// requests returns an attack by workers that send one request after another: each with a
// token, a path and, for a PUT, a body.
func (f *flood) requests(workers int, next func(worker, i int) (token, path, body string)) func(ctx context.Context) {
	return func(ctx context.Context) {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
		defer client.CloseIdleConnections()
		var all sync.WaitGroup
		for worker := range workers {
			all.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					token, path, body := next(worker, i)
					method := http.MethodPut
					if body == "" {
						method = http.MethodGet
					}
					request, err := http.NewRequestWithContext(ctx, method, f.node.url()+path, strings.NewReader(body))
					if err != nil {
						return
					}
					request.Header.Set("Authorization", "Bearer "+token)
					response, err := client.Do(request)
					if err != nil {
						continue
					}
					io.Copy(io.Discard, response.Body)
					response.Body.Close()
					f.mu.Lock()
					f.counts[response.StatusCode]++
					f.mu.Unlock()
				}
			})
		}
		all.Wait()
	}
}
