package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/poolswap/poolswap/internal/test/machine"
	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
)

// nginx is a real web server.
type nginx struct {
	program, dir, address string
	process               *exec.Cmd
}

const nginxConf = `
daemon off;
master_process off;
pid %[1]s/pid;
error_log %[1]s/error.log;
events {}
http {
	access_log %[1]s/access.log;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	default_type application/octet-stream;
	server {
		listen %[2]s;
		root %[1]s/www;
		location /etag/ { alias %[1]s/www/; }
		location /no-etag/ { alias %[1]s/www/; etag off; }
		location /throttled/ { alias %[1]s/www/; limit_rate 2m; }
		location /gzip/ { alias %[1]s/www/; gzip on; gzip_types *; gzip_min_length 1; }
	}
}
`

// nginxProgram returns the nginx to use, or "".
func nginxProgram() string {
	if name := os.Getenv("POOLSWAP_NGINX"); name != "" {
		return name
	}
	for _, name := range []string{"nginx", "/usr/sbin/nginx"} { // PATH may lack root's directories
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	return ""
}

// ownLoopback returns an address of this machine at which, on Linux, hardly
// another process listens: a port that is free there stays free until nginx binds
// it, and while nginx is down.
func ownLoopback() string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1"
	}
	return fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
}

func newNginx(t *testing.T) *nginx {
	t.Helper()
	program := nginxProgram()
	if program == "" {
		machine.Lacks(t, "POOLSWAP_NGINX names no nginx, and there is none in PATH or /usr/sbin")
	}
	listener, err := net.Listen("tcp", ownLoopback()+":0") // for a free port
	if err != nil {
		t.Fatal(err)
	}
	n := &nginx{program: program, dir: t.TempDir(), address: listener.Addr().String()}
	err = errors.Join(listener.Close(), os.Mkdir(filepath.Join(n.dir, "www"), 0o755),
		os.WriteFile(filepath.Join(n.dir, "nginx.conf"), fmt.Appendf(nil, nginxConf, n.dir, n.address), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	n.start(t)
	t.Cleanup(n.kill)
	return n
}

func (n *nginx) start(t *testing.T) {
	t.Helper()
	n.process = exec.Command(n.program, "-p", n.dir, "-c", filepath.Join(n.dir, "nginx.conf"), "-e", filepath.Join(n.dir, "error.log"))
	n.process.Stderr = os.Stderr
	if err := n.process.Start(); err != nil {
		t.Fatal(err)
	}
	pooltest.Eventually(t, "nginx listens", func() bool {
		conn, err := net.Dial("tcp", n.address)
		if err != nil {
			time.Sleep(time.Millisecond)
			return false
		}
		return conn.Close() == nil
	})
}

func (n *nginx) kill() {
	n.process.Process.Kill()
	n.process.Wait()
}

func (n *nginx) url(location string) string {
	return "http://" + n.address + "/" + location + "/data?key=secret"
}

// put replaces the served file, whose Last-Modified counts seconds only.
func (n *nginx) put(t *testing.T, second int, content string) {
	t.Helper()
	name := filepath.Join(n.dir, "www", "data")
	renamed(name).Put(t, []byte(content))
	at := time.Unix(1_700_000_000+int64(second), 0)
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestNginxConditions(t *testing.T) {
	for location, revision := range map[string]string{"etag": `etag "`, "no-etag": "date ", "gzip": `etag W/"`} {
		t.Run(location, func(t *testing.T) {
			n := newNginx(t)
			var outcomes []reload.Outcome
			r, c := fromHTTP(n.url(location), reload.HTTPOptions{}, reload.Options{Observe: func(e reload.Event) { outcomes = append(outcomes, e.Outcome) }})
			if failure := failsWith(t, r, reload.Fetching); !isStatus(failure, http.StatusNotFound) {
				t.Error(failure)
			}
			for second, content := range []string{"one", "two, which is longer", "one"} {
				n.put(t, second%2, content) // the third restores the first
				succeeds(t, r, c, content)
				succeeds(t, r, c, content)
				if s := r.Status(); len(s.Revision) < len(revision) || s.Revision[:len(revision)] != revision || !s.Modified.Equal(time.Unix(1_700_000_000+int64(second%2), 0)) {
					t.Errorf("revision %s of %v", s.Revision, s.Modified)
				}
			}
			want := []reload.Outcome{reload.Failed, reload.Loaded, reload.NotModified, reload.Loaded, reload.NotModified, reload.Loaded, reload.NotModified}
			if !slices.Equal(outcomes, want) {
				t.Errorf("the outcomes are %v, want %v", outcomes, want)
			}
		})
	}
}

func isStatus(err error, want int) bool {
	var status *reload.HTTPError
	return errors.As(err, &status) && status.Status == want
}

func TestNginxKilled(t *testing.T) {
	n := newNginx(t)
	big := string(numbered(2)) // repeated, so that it does not fit into the buffers between
	for len(big) < 16<<20 {
		big += big
	}
	killed := false
	c, _ := newTexts()
	dir := t.TempDir()
	newLoader := func(source reload.Source) *reload.Reloader {
		return reload.New(c, source, func(ctx context.Context, next, current *text, content *reload.Content) error {
			if content.Size > 1<<20 && !killed {
				killed = true
				if _, err := io.ReadFull(content.Body, make([]byte, 1000)); err != nil {
					return err
				}
				n.kill()
			}
			return load(ctx, next, current, content)
		}, reload.Options{Logger: quiet})
	}
	r := newLoader(reload.HTTP(n.url("throttled"), reload.HTTPOptions{}))
	n.put(t, 1, "small")
	succeeds(t, r, c, "small")
	n.put(t, 2, big)
	if failure := failsWith(t, r, reload.Reading); failure.Refused || !killed {
		t.Error(failure)
	}
	is(t, c, "small")
	for range 2 { // it is down
		if failure := failsWith(t, r, reload.Fetching); failure.Refused {
			t.Error(failure)
		}
	}
	is(t, c, "small")

	n.start(t)
	n.put(t, 3, "after the restart")
	cached, c2 := start(reload.HTTP(n.url("etag"), reload.HTTPOptions{}), dir, reload.Options{})
	succeeds(t, r, c, "after the restart")
	succeeds(t, cached, c2, "after the restart")
	n.kill()
	cached, c2 = start(reload.HTTP(n.url("etag"), reload.HTTPOptions{}), dir, reload.Options{})
	succeeds(t, cached, c2, "after the restart")
	if cached.Status().Stale == nil {
		t.Error("the kept content is not stale while nginx is down")
	}
	n.start(t)
	n.put(t, 4, "after the second restart")
	succeeds(t, cached, c2, "after the second restart")
}

// A slow transfer takes longer than both timeouts, which do not bound it.
func TestNginxSlow(t *testing.T) {
	n := newNginx(t)
	const timeout = 3 * time.Second
	content := string(make([]byte, 10<<20)) // 2 MiB a second
	n.put(t, 1, content)
	r, c := fromHTTP(n.url("throttled"), reload.HTTPOptions{HeaderTimeout: timeout, StallTimeout: timeout}, reload.Options{})
	succeeds(t, r, c, content)
	if s := r.Status(); s.Load < timeout {
		t.Errorf("the transfer took %v only: the test shows nothing", s.Load)
	}
}

func TestNginxGarbage(t *testing.T) {
	for _, location := range []string{"etag", "no-etag"} {
		t.Run(location, func(t *testing.T) {
			n := newNginx(t)
			r, c := fromHTTP(n.url(location), reload.HTTPOptions{}, reload.Options{})
			n.put(t, 1, "good")
			succeeds(t, r, c, "good")
			n.put(t, 2, "bad: <html>out of order</html>")
			if failure := failsWith(t, r, reload.Loading); !failure.Refused {
				t.Error(failure)
			}
			for range 3 { // 304
				failsWith(t, r, reload.Loading)
				is(t, c, "good")
			}
			if r.Status().Refused == "" {
				t.Error("the status does not show the refusal")
			}
			if err := os.Remove(filepath.Join(n.dir, "www", "data")); err != nil {
				t.Fatal(err)
			}
			if failure := failsWith(t, r, reload.Fetching); !isStatus(failure, http.StatusNotFound) {
				t.Error(failure)
			}
			is(t, c, "good")
			n.put(t, 1, "good") // restored
			succeeds(t, r, c, "good")
			if s := r.Status(); s.Swaps != 1 || s.Refused != "" {
				t.Errorf("the status is %+v", s)
			}
		})
	}
}
