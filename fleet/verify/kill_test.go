package verify

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/poolswap/poolswap/fleet"
)

// A test that kills the server has it in a process of its own: this program, with
// the arguments of the server in the environment.
const childVariable = "POOLSWAP_TEST_CHILD"

func TestMain(m *testing.M) {
	if port, dir, ok := strings.Cut(os.Getenv(childVariable), " "); ok {
		serve(port, dir)
	}
	if url, dir, ok := strings.Cut(os.Getenv(replicaVariable), " "); ok {
		serveReplica(url, dir)
	}
	os.Exit(m.Run())
}

// serve is the process of a server. It runs until it is killed.
func serve(port, dir string) {
	number, err := strconv.Atoi(port)
	if err == nil {
		var s *server.Server
		if s, err = server.NewServer(&server.Options{Host: "127.0.0.1", Port: number, JetStream: true, StoreDir: dir, SyncAlways: true, NoLog: true}); err == nil {
			s.Start()
			s.WaitForShutdown()
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// process is a server in a process of its own.
type process struct {
	host
	command *exec.Cmd
}

func newProcess(t testing.TB) *process {
	t.Helper()
	p := &process{host: host{t: t, dir: t.TempDir(), port: freePort(t)}}
	p.launch()
	t.Cleanup(p.kill)
	conn := p.dial()
	eventually(t, "the server is set up", func() bool { return fleet.Setup(t.Context(), conn, fleet.SetupOptions{}) == nil })
	return p
}

func (p *process) launch() {
	p.t.Helper()
	p.command = exec.Command(os.Args[0])
	p.command.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", childVariable, p.port, p.dir))
	p.command.Stderr = os.Stderr
	if err := p.command.Start(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) kill() {
	p.command.Process.Kill()
	p.command.Wait()
}

// Publications go on while the server is killed again and again. What was
// acknowledged stays, what is wanted is whole, and replicas only go forward.
func TestAServerThatIsKilledLosesNothing(t *testing.T) {
	long(t)
	t.Parallel() // it waits most of its time
	publications, every := 200, 8
	p := newProcess(t)
	publisher, err := fleet.NewPublisher(p.dial(), "table", fleet.PublisherOptions{By: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	controller, err := fleet.NewController(p.dial(), "table", "bob")
	if err != nil {
		t.Fatal(err)
	}
	replicas := []*replica{run(t, p.dial(), "a", fleet.SourceOptions{}), run(t, p.dial(), "b", fleet.SourceOptions{})}

	var tried []string // texts, in their order
	acknowledged := -1 // the last of them that was
	begun := make(chan int)
	go func() {
		defer close(begun)
		for i := range publications {
			begun <- i
			text := fmt.Sprintf("%d %s", i, strings.Repeat("x", rand.IntN(1<<20)))
			tried = append(tried, text)
			if _, _, err := publisher.Publish(t.Context(), strings.NewReader(text), ""); err == nil {
				acknowledged = i
			}
		}
	}()
	kills, next := 0, rand.IntN(2*every)
	for i := range begun {
		if i == next {
			time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond) // anywhere in the publication
			p.kill()
			p.launch()
			kills, next = kills+1, i+1+rand.IntN(2*every)
		}
	}

	var checked int
	eventually(t, "all stored content can be verified", func() bool {
		checked, err = controller.Verify(t.Context())
		return err == nil
	})
	status, err := controller.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d publications, %d kills, %d revisions stored, the plan is number %d, the last acknowledged is %d", publications, kills, checked, status.Plan.Seq, acknowledged)
	if acknowledged < 0 || kills == 0 {
		t.Fatal("nothing was tested")
	}
	for _, r := range replicas {
		eventually(t, r.id+" has what the plan wants", func() bool { s := r.Reloader.Status(); return s.Revision == status.Plan.Stable })
		if i := slices.Index(tried, r.text()); i < acknowledged {
			t.Errorf("%s has number %d, and %d was acknowledged", r.id, i, acknowledged)
		}
	}
	history, err := controller.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	order := map[string]int{}
	for i, c := range history {
		order[c.To] = i
		if c.Seq != uint64(i+1) {
			t.Errorf("entry %d of the history is number %d", i+1, c.Seq)
		}
	}
	for _, r := range replicas {
		r.stop()
		for i := 1; i < len(r.runs); i++ {
			if order[r.runs[i]] < order[r.runs[i-1]] {
				t.Errorf("%s went back from %s to %s", r.id, r.runs[i-1], r.runs[i])
			}
		}
		if len(r.runs) < 3 {
			t.Errorf("%s ran only %q", r.id, r.runs)
		}
	}
}
