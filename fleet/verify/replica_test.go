package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// object is the object of replicas.
type object struct {
	poolswap.Ref
	text []byte
}

var quiet = slog.New(slog.DiscardHandler)

// replica is one of a fleet. It refuses content that begins with "bad".
type replica struct {
	*reload.Reloader
	*fleet.Source
	id      string
	objects *poolswap.Container[object, *object]
	stop    func()

	mu   sync.Mutex
	runs []string // the revisions that it loaded, one after another
}

func loadObject(_ context.Context, next, _ *object, content *reload.Content) (err error) {
	if next.text, err = io.ReadAll(content.Body); err == nil && strings.HasPrefix(string(next.text), "bad") {
		err = errors.New("bad row 3")
	}
	return err
}

// newReplica returns a replica of the name "table" that does not run yet. dir is for its
// Cache, if it is not "".
func newReplica(t testing.TB, c *fleet.Client, dir string, options fleet.SourceOptions) *replica {
	t.Helper()
	options.Logger, options.ReportEvery = quiet, 2*time.Second
	r := &replica{Source: must(fleet.NewSource(c, "table", options))(t), id: options.ID}
	r.objects = poolswap.NewEmptyContainer(poolswap.NewPool(func() *object { return new(object) }, nil))
	var source reload.Source = r.Source
	if dir != "" {
		source = reload.Cache(source, dir)
	}
	r.Reloader = reload.New(r.objects, source, loadObject, reload.Options{Every: 2 * time.Second, Logger: quiet, Observe: func(e reload.Event) {
		r.Source.Observe(e)
		r.mu.Lock()
		defer r.mu.Unlock()
		if e.Outcome == reload.Loaded || e.Outcome == reload.Unchanged {
			r.runs = append(r.runs, e.Revision)
		}
	}})
	return r
}

// start starts a replica that runs until the test ends or stop is called.
func start(t testing.TB, c *fleet.Client, options fleet.SourceOptions) *replica {
	t.Helper()
	r := newReplica(t, c, "", options)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
		r.Leave()
	}()
	r.stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(r.stop)
	return r
}

// text returns the content that readers get.
func (r *replica) text() (text string) {
	if obj := r.objects.Acquire(); obj != nil {
		defer r.objects.Release(obj)
		text = string(obj.text)
	}
	return text
}

// awaitText waits until readers get want.
func (r *replica) awaitText(t testing.TB, want string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s has %.40q", r.id, want), func() bool { return r.text() == want })
}

// replicaVariable holds the server, the file of the token and the directory of the Cache
// of a replica in a process of its own, which is this program.
const replicaVariable = "POOLSWAP_TEST_REPLICA"

// serveReplica prints the text of each object, once the Cache has kept it, until the
// process is killed.
func serveReplica(args []string) {
	client, err := fleet.NewClient(args[0], fleet.ClientOptions{TokenFile: args[1]})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	r := newReplica(&testing.B{}, client, args[2], fleet.SourceOptions{ID: "killed"})
	go r.Run(context.Background())
	for printed := 0; ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		n := len(r.runs)
		r.mu.Unlock()
		if n > printed {
			fmt.Println(r.text())
			printed = n
		}
	}
}

// killable starts such a process. It returns the lines that it prints.
func killable(t testing.TB, servers, token, dir string) (lines <-chan string, kill func()) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), replicaVariable+"="+strings.Join([]string{servers, token, dir}, " "))
	output := must(command.StdoutPipe())(t)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	printed := make(chan string, 1000)
	go func() {
		defer close(printed)
		for {
			var line string
			if _, err := fmt.Fscanln(output, &line); err != nil {
				return
			}
			printed <- line
		}
	}()
	kill = func() {
		command.Process.Kill()
		command.Wait()
	}
	t.Cleanup(kill)
	return printed, kill
}
