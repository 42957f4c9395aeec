package verify

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/poolswap/poolswap/fleet"
)

// asDocumented are the options that NewSource asks for.
func asDocumented(more ...nats.Option) []nats.Option {
	return append(fleet.ReplicaOptions(quiet), more...)
}

// dialWith returns a connection with these options alone, but for how soon it
// tries again.
func dialWith(t testing.TB, url string, options []nats.Option) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(url, append(options, nats.ReconnectWait(20*time.Millisecond), nats.ReconnectJitter(0, 0), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// startServer returns a server that runs until the test ends, and its URL.
func startServer(t testing.TB, options *server.Options) (*server.Server, string) {
	t.Helper()
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not become ready")
	}
	return s, fmt.Sprintf("nats://127.0.0.1:%d", s.Addr().(*net.TCPAddr).Port)
}

// operator signs the accounts and users of a server.
type operator struct {
	t       testing.TB
	account nkeys.KeyPair
	user    nkeys.KeyPair
	url     string
}

func newOperator(t testing.TB) *operator {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	public := func(kp nkeys.KeyPair) string {
		key, err := kp.PublicKey()
		must(err)
		return key
	}
	root, err := nkeys.CreateOperator()
	must(err)
	o := &operator{t: t}
	o.account, err = nkeys.CreateAccount()
	must(err)
	o.user, err = nkeys.CreateUser()
	must(err)
	system, err := nkeys.CreateAccount()
	must(err)
	accounts := &server.MemAccResolver{}
	for _, kp := range []nkeys.KeyPair{system, o.account} {
		claims := jwt.NewAccountClaims(public(kp))
		if kp == o.account {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
		}
		text, err := claims.Encode(root)
		must(err)
		must(accounts.Store(public(kp), text))
	}
	text, err := jwt.NewOperatorClaims(public(root)).Encode(root)
	must(err)
	trusted, err := jwt.DecodeOperatorClaims(text)
	must(err)
	_, o.url = startServer(t, &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
		TrustedOperators: []*jwt.OperatorClaims{trusted}, SystemAccount: public(system), AccountResolver: accounts,
	})
	return o
}

// token returns a user's JWT that is valid until a time, or for ever.
func (o *operator) token(until time.Time) string {
	o.t.Helper()
	key, err := o.user.PublicKey()
	if err != nil {
		o.t.Fatal(err)
	}
	claims := jwt.NewUserClaims(key)
	if !until.IsZero() {
		claims.Expires = until.Unix()
	}
	text, err := claims.Encode(o.account)
	if err != nil {
		o.t.Fatal(err)
	}
	return text
}

// as makes a connection identify itself with what token has at the time.
func (o *operator) as(token *atomic.Value) nats.Option {
	return nats.UserJWT(func() (string, error) { return token.Load().(string), nil }, o.user.Sign)
}

func constant(value string) *atomic.Value {
	v := new(atomic.Value)
	v.Store(value)
	return v
}

// setUpFleet prepares a server and returns who publishes.
func setUpFleet(t testing.TB, conn *nats.Conn) *fleet.Publisher {
	t.Helper()
	eventually(t, "the server is set up", func() bool { return fleet.Setup(t.Context(), conn, fleet.SetupOptions{}) == nil })
	p, err := fleet.NewPublisher(conn, "table", fleet.PublisherOptions{By: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func publishText(t testing.TB, p *fleet.Publisher, text string) {
	t.Helper()
	if _, _, err := p.Publish(t.Context(), strings.NewReader(text), ""); err != nil {
		t.Fatal(err)
	}
}

// says waits until the status of a replica has want in its error.
func (r *replica) says(t testing.TB, want string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s says %q, not %v", r.id, want, r.Reloader.Status().Err), func() bool {
		s := r.Reloader.Status()
		return s.Failures > 0 && strings.Contains(s.Err.Error(), want)
	})
}

// A replica whose token expires serves what it has, says why, and goes on with
// another token.
func TestAnExpiredTokenIsReportedAndRenewed(t *testing.T) {
	long(t)
	t.Parallel() // it waits most of its time
	o := newOperator(t)
	publisher := setUpFleet(t, dialWith(t, o.url, asDocumented(o.as(constant(o.token(time.Time{}))))))
	publishText(t, publisher, "before")

	soon := time.Now().Add(2 * time.Second)
	token := constant(o.token(soon))
	documented := run(t, dialWith(t, o.url, asDocumented(o.as(token))), "documented", fleet.SourceOptions{})
	without := run(t, dialWith(t, o.url, []nats.Option{nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), o.as(token)}), "without", fleet.SourceOptions{})
	documented.awaitText(t, "before")
	without.awaitText(t, "before")

	documented.says(t, "there is no connection to the server: nats: Authorization Violation")
	without.says(t, "the connection to the server is closed and does not come back: nats: ") // "User Authentication Expired" or "Authorization Violation"
	late := run(t, dialWith(t, o.url, asDocumented(o.as(token))), "late", fleet.SourceOptions{})
	late.says(t, "there is no connection to the server: nats: Authorization Violation")
	publishText(t, publisher, "after")
	if documented.text() != "before" || without.text() != "before" {
		t.Errorf("without a valid token readers get %q and %q", documented.text(), without.text())
	}

	token.Store(o.token(time.Time{}))
	documented.awaitText(t, "after")
	late.awaitText(t, "after")
	if s := documented.Reloader.Status(); s.State() != "fresh" {
		t.Errorf("the state is %s: %v", s.State(), s.Err)
	}
}

// The same where the password of a user is changed.
func TestAChangedPasswordIsReportedAndRenewed(t *testing.T) {
	long(t)
	options := func(password string) *server.Options {
		return &server.Options{
			Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, NoLog: true, NoSigs: true,
			Users: []*server.User{{Username: "admin", Password: "secret"}, {Username: "replica", Password: password}},
		}
	}
	dir, first := t.TempDir(), options("first")
	first.StoreDir = dir
	s, url := startServer(t, first)
	publisher := setUpFleet(t, dialWith(t, url, asDocumented(nats.UserInfo("admin", "secret"))))
	publishText(t, publisher, "before")
	password := constant("first")
	r := run(t, dialWith(t, url, asDocumented(nats.UserInfoHandler(func() (string, string) { return "replica", password.Load().(string) }))), "r", fleet.SourceOptions{})
	r.awaitText(t, "before")

	second := options("second")
	second.StoreDir, second.Port = dir, s.Addr().(*net.TCPAddr).Port
	if err := s.ReloadOptions(second); err != nil {
		t.Fatal(err)
	}
	r.says(t, "there is no connection to the server: nats: Authorization Violation")
	publishText(t, publisher, "after")
	if got := r.text(); got != "before" {
		t.Errorf("with a wrong password readers get %q", got)
	}
	password.Store("second")
	r.awaitText(t, "after")
}
