package verify

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// startFull starts a server with a store that takes most bytes, or as many as the
// disk has for 0.
func startFull(t testing.TB, dir string, port int, most int64) (s *server.Server, stop func()) {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, JetStreamMaxStore: most, SyncAlways: true, NoLog: true, NoSigs: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not become ready")
	}
	return s, func() {
		s.Shutdown()
		s.WaitForShutdown()
	}
}

// filled is a server whose store is full.
type filled struct {
	*fleet.Controller
	publisher *fleet.Publisher
	replica   *replica
	last      fleet.Revision // that was published
}

func newFilled(t testing.TB, s *server.Server) *filled {
	t.Helper()
	url := fmt.Sprintf("nats://127.0.0.1:%d", s.Addr().(*net.TCPAddr).Port)
	f := &filled{publisher: setUpFleet(t, dial(t, url)), replica: newReplica(t, dial(t, url), "r", fleet.SourceOptions{})}
	var err error
	if f.Controller, err = fleet.NewController(dial(t, url), "table", "bob"); err != nil {
		t.Fatal(err)
	}
	return f
}

// fill publishes content of 1 MiB until that fails, which must be for want.
func (f *filled) fill(t testing.TB, want string) {
	t.Helper()
	for i := range 64 {
		r, _, err := f.publisher.Publish(t.Context(), &pattern{left: 1 << 20, next: byte(i)}, "")
		if err == nil {
			f.last = r
			continue
		}
		t.Logf("publication %d: %v", i, err)
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q in it", err, want)
		}
		return
	}
	t.Fatal("64 MiB fit")
}

// check fails the test unless the plan is as before, all that is stored is whole,
// and a replica can load it.
func (f *filled) check(t testing.TB) {
	t.Helper()
	status, err := f.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if status.Plan.Stable != f.last.ID {
		t.Errorf("the plan wants %q, and %q was published last", status.Plan.Stable, f.last.ID)
	}
	if checked, err := f.Verify(t.Context()); err != nil || checked == 0 {
		t.Errorf("Verify checked %d and returned %v", checked, err)
	}
	if err := f.replica.Reload(t.Context()); err != nil || f.replica.Reloader.Status().Revision != f.last.ID {
		t.Errorf("the replica has %q: %v", f.replica.Reloader.Status().Revision, err)
	}
}

// objects returns how many revisions are stored, and how many objects that are
// none.
func (f *filled) objects(t testing.TB) (whole, half int) {
	t.Helper()
	stored, err := f.Stored(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range stored {
		if one.ID == "" {
			half++
		} else {
			whole++
		}
	}
	return whole, half
}

func TestAStoreThatIsFullTakesNothingHalf(t *testing.T) {
	long(t)
	const noRoom = "insufficient resources (the server has no room: Retain makes some)"
	s, stop := startFull(t, t.TempDir(), server.RANDOM_PORT, 4<<20)
	t.Cleanup(stop)
	f := newFilled(t, s)
	f.fill(t, noRoom)
	f.check(t)

	// Not even a plan or a note of a deletion fits.
	for _, size := range []int{100_000, 1000, 1} {
		var err error
		for err == nil {
			_, err = f.publisher.Store(t.Context(), &pattern{left: size})
		}
		if !strings.Contains(err.Error(), noRoom) {
			t.Errorf("Store of %d bytes: %v", size, err)
		}
	}
	if _, err := f.Pause(t.Context(), ""); err == nil || !strings.Contains(err.Error(), noRoom) {
		t.Errorf("Pause returned %v", err)
	}
	f.check(t)

	time.Sleep(time.Second) // the changes within MinAge must be over
	gone, err := f.Retain(t.Context(), fleet.RetainOptions{Keep: 1, MinAge: time.Millisecond})
	if err != nil || len(gone) == 0 {
		t.Fatalf("%d are deleted, %v", len(gone), err)
	}
	if whole, half := f.objects(t); whole != 3 || half != 0 { // stable, what was before, and one more
		t.Errorf("%d revisions and %d halves are left", whole, half)
	}
	var failed error
	if f.last, _, failed = f.publisher.Publish(t.Context(), &pattern{left: 1 << 20}, ""); failed != nil {
		t.Error(failed)
	}
	f.check(t)
	history, err := f.History(t.Context())
	for i, c := range history {
		if c.Seq != uint64(i+1) {
			t.Errorf("entry %d of the history is number %d", i+1, c.Seq)
		}
	}
	if err != nil || history[len(history)-1].To != f.last.ID {
		t.Errorf("the history ends with %+v, %v", history[len(history)-1], err)
	}
}

func TestADiskThatIsFullTakesNothingHalf(t *testing.T) {
	long(t)
	t.Parallel() // it waits most of its time
	disk := newDisk(t, "12m")
	s, stop := startFull(t, disk.dir, server.RANDOM_PORT, 1<<30)
	t.Cleanup(func() { stop() })
	f := newFilled(t, s)
	f.fill(t, "is the disk of the server full, ")
	f.check(t)
	if _, err := f.Retain(t.Context(), fleet.RetainOptions{Keep: 1, MinAge: time.Millisecond}); err != nil {
		t.Logf("Retain on the full disk: %v", err) // a file system may have no room for deletions
	}

	disk.resize("64m")
	port := s.Addr().(*net.TCPAddr).Port
	stop()
	_, stop = startFull(t, disk.dir, port, 1<<30)
	eventually(t, "content is published again", func() bool {
		r, _, err := f.publisher.Publish(t.Context(), &pattern{left: 1 << 20}, "")
		f.last = r
		return err == nil
	})
	f.check(t)
	if _, err := f.Retain(t.Context(), fleet.RetainOptions{Keep: 1, MinAge: time.Millisecond}); err != nil {
		t.Error(err)
	}
	f.check(t)
}

// A replica whose cache has no room serves what it has and says why.
func TestACacheOnAFullDiskIsReported(t *testing.T) {
	disk := newDisk(t, "1m")
	m := newTeam(t, 0)
	m.publish(t, "small")
	start := func() *replica {
		r := newReplica(t, m.dial(), "r", fleet.SourceOptions{})
		r.Reloader = reload.New(r.objects, reload.Cache(r.source, disk.dir), loadObject, reload.Options{Logger: quiet, Observe: r.source.Observe})
		return r
	}
	r := start()
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("large", 1<<20)
	m.publish(t, large)
	r.fails(t, "no space left on device", "small")
	eventually(t, "the report has the error", func() bool {
		status, err := m.Status(t.Context())
		return err == nil && len(status.Replicas) == 1 && strings.Contains(status.Replicas[0].Error, "no space left on device")
	})
	again := start() // what is kept is whole
	if err := again.Reload(t.Context()); again.text() != "small" {
		t.Errorf("after a restart readers get %.10q, %v", again.text(), err)
	}
	disk.resize("32m")
	if err := r.Reload(t.Context()); err != nil || r.text() != large {
		t.Errorf("with a larger disk: %v, %d bytes", err, len(r.text()))
	}
}

// What a Publisher that was killed has left is deleted with the rest.
func TestChunksWithoutAnObjectAreDeleted(t *testing.T) {
	long(t)
	m := newTeam(t, 0)
	m.publish(t, "content")
	conn := m.dial()
	killed, err := fleet.NewPublisher(conn, "other", fleet.PublisherOptions{By: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	content := &pattern{left: 1 << 20}
	if _, err := killed.Store(ctx, readerFunc(func(p []byte) (int, error) {
		if content.left == 0 {
			conn.Flush()
			conn.Close() // as the end of its process does
		}
		return content.Read(p)
	})); err == nil {
		t.Fatal("it is not killed")
	}
	look := m.dial()
	eventually(t, "there are chunks of two objects", func() bool { return chunkSubjects(t, look) == 2 })
	if _, err := m.Retain(t.Context(), fleet.RetainOptions{Keep: 1}); err != nil {
		t.Fatal(err)
	}
	if n := chunkSubjects(t, m.dial()); n != 2 {
		t.Errorf("there are chunks of %d objects, want 2: they are young", n)
	}
	time.Sleep(10 * time.Millisecond)
	if _, err := m.Retain(t.Context(), fleet.RetainOptions{Keep: 1, MinAge: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if n := chunkSubjects(t, m.dial()); n != 1 {
		t.Errorf("there are chunks of %d objects, want 1", n)
	}
	if checked, err := m.Verify(t.Context()); err != nil || checked != 1 {
		t.Errorf("Verify checked %d and returned %v", checked, err)
	}
}

// readerFunc is a Read as a Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// chunkSubjects returns of how many objects the server has chunks.
func chunkSubjects(t testing.TB, conn *nats.Conn) int {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), contentStream)
	if err != nil {
		t.Fatal(err)
	}
	info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter("$O.poolswap-content.C.*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(info.State.Subjects)
}
