package reload_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// wires are pipes whose Accept can fail and whose server can be asked.
type wires struct {
	*pipes
	fail chan error // of Accept
}

func newWires() *wires {
	return &wires{&pipes{make(chan net.Conn), make(chan struct{})}, make(chan error, 1)}
}

func (w *wires) Accept() (net.Conn, error) {
	select {
	case conn := <-w.conns:
		return conn, nil
	case err := <-w.fail:
		return nil, err
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

// get sends a request on a connection of its own.
func (w *wires) get(path string) (answer string, err error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: w.dial}}
	response, err := client.Get("http://host" + path)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// isClosed reports whether the listener is closed.
func (w *wires) isClosed() bool {
	select {
	case <-w.closed:
		return true
	default:
		return false
	}
}

// service is a server with a container that Serve runs.
type service struct {
	*wires
	texts    *texts
	pool     *poolswap.Pool[text, *text]
	fake     *reloadtest.Fake
	reloader *reload.Reloader
	mux      *http.ServeMux
	closes   int // calls of Close
	stop     context.CancelFunc
	ended    chan error // the error of Serve
}

const grace = 5 * time.Second

// serving calls Serve in a bubble, with a container that has loaded "one".
func serving(t *testing.T, load func(context.Context, *text, *text, *reload.Content) error, fn func(t *testing.T, s *service)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &service{wires: newWires(), fake: new(reloadtest.Fake), mux: http.NewServeMux(), ended: make(chan error, 1)}
		s.texts, s.pool = newTexts()
		s.reloader = reload.New(s.texts, plain{s.fake}, load, reload.Options{Every: time.Second, Logger: quiet})
		push(s.fake, "one")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s.stop = cancel
		go func() {
			s.ended <- reload.Serve(ctx, &http.Server{Handler: s.mux}, reload.ServeOptions{Listener: s.wires, Grace: grace, Close: func(ctx context.Context) error {
				s.closes++
				return s.pool.Close(ctx)
			}}, s.reloader)
		}()
		synctest.Wait()
		fn(t, s)
	})
}

// end waits for Serve, and checks that all is over, after that time. Shutdown looks for
// open requests twice a second or more often.
func (s *service) end(t *testing.T, after time.Duration) error {
	t.Helper()
	began := time.Now()
	err := <-s.ended
	if took := time.Since(began); took < after || took > after+600*time.Millisecond {
		t.Errorf("the end took %v, want %v", took, after)
	}
	if !s.isClosed() || s.closes != 1 || s.texts.Acquire() != nil {
		t.Errorf("the listener is closed: %v, calls of Close: %d, readers get %q", s.isClosed(), s.closes, current(s.texts))
	}
	return err
}

func TestServeEndsInOrder(t *testing.T) {
	serving(t, load, func(t *testing.T, s *service) {
		s.mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(3 * time.Second)
			if r.Context().Err() != nil || s.closes != 0 || s.reloader.Status().Next.IsZero() {
				t.Errorf("at the end of a request its context is %v, Close was called %d times, and the next attempt is at %v", r.Context().Err(), s.closes, s.reloader.Status().Next)
			}
			fmt.Fprint(w, current(s.texts))
		})
		answers := make(chan string, 1)
		go func() {
			answer, err := s.get("/slow")
			answers <- fmt.Sprint(answer, err)
		}()
		synctest.Wait()
		s.stop()
		synctest.Wait()
		if !s.isClosed() {
			t.Error("the listener is open after the end of ctx")
		}
		push(s.fake, "two") // is still loaded
		if err := s.end(t, 3*time.Second); err != nil {
			t.Error(err)
		}
		if answer := <-answers; answer != "two<nil>" {
			t.Errorf("the answer is %q", answer)
		}
		if !s.reloader.Status().Next.IsZero() {
			t.Error("Run goes on")
		}
	})
}

func TestServeWithHandlerThatHangs(t *testing.T) {
	serving(t, load, func(t *testing.T, s *service) {
		released := make(chan struct{})
		defer func() { <-released }()
		cut := make(chan time.Time, 1)
		s.mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) {
			held := s.texts.Acquire()
			<-r.Context().Done()
			cut <- time.Now()
			time.Sleep(time.Hour)
			s.texts.Release(held)
			close(released)
		})
		go s.get("/hang")
		synctest.Wait()
		s.stop()
		ended := time.Now()
		err := s.end(t, 2*grace)
		if at := (<-cut).Sub(ended); at != grace {
			t.Errorf("the context of the request ends after %v", at)
		}
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, new(*poolswap.HeldError)) || !strings.Contains(err.Error(), "reload: Serve: requests are open after 5s") {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestServeWithLoadThatHangs(t *testing.T) {
	serving(t, func(context.Context, *text, *text, *reload.Content) error {
		time.Sleep(time.Hour)
		return nil
	}, func(t *testing.T, s *service) {
		s.stop()
		err := s.end(t, grace)
		if err == nil || !strings.Contains(err.Error(), "reload: Serve: Run of reload_test.plain does not return") || !errors.As(err, new(*poolswap.HeldError)) {
			t.Errorf("the error is %v", err)
		}
		time.Sleep(2 * time.Hour) // load returns, and Run with it
	})
}

func TestServeWithCloseThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		err := reload.Serve(ctx, new(http.Server), reload.ServeOptions{Close: func(context.Context) error {
			time.Sleep(time.Hour)
			return nil
		}})
		if took := time.Since(began); took != reload.DefaultGrace+time.Second || err == nil || !strings.Contains(err.Error(), "Close does not return") {
			t.Errorf("after %v: %v", took, err)
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestServeEndsWithItsContainer(t *testing.T) {
	serving(t, load, func(t *testing.T, s *service) {
		if err := s.texts.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.end(t, 0); !errors.Is(err, poolswap.ErrClosed) {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestServeEndsWithItsServer(t *testing.T) {
	serving(t, load, func(t *testing.T, s *service) {
		tooMany := errors.New("too many open files")
		s.fail <- tooMany
		if err := s.end(t, 0); !errors.Is(err, tooMany) {
			t.Errorf("the error is %v", err)
		}
		if !s.reloader.Status().Next.IsZero() {
			t.Error("Run goes on")
		}
	})
}

func TestServeEndsWithServerThatIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := new(http.Server)
		time.AfterFunc(time.Minute, func() { server.Close() })
		if err := reload.Serve(t.Context(), server, reload.ServeOptions{Listener: newWires()}); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the error is %v", err)
		}
	})
}

// A load that ends its goroutine, by FailNow of a test say, ends Run.
func TestServeEndsWithItsRun(t *testing.T) {
	serving(t, func(context.Context, *text, *text, *reload.Content) error {
		runtime.Goexit()
		return nil
	}, func(t *testing.T, s *service) {
		if err := s.end(t, 0); err == nil || err.Error() != "reload: Serve: Run of reload_test.plain called runtime.Goexit" {
			t.Errorf("the error is %v", err)
		}
	})
}

// Nothing begins, and Close is called, if there is no listener or ctx has ended.
func TestServeThatCannotBegin(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	closeFailed := errors.New("close failed")
	for name, c := range map[string]struct {
		ctx      context.Context
		address  string
		listener net.Listener
		want     string
	}{
		"no listener":               {t.Context(), "nonsense", nil, "listen tcp: address nonsense: missing port in address\nclose failed"},
		"ctx has ended":             {ended, "nonsense", nil, "close failed"},
		"ctx ended with a listener": {ended, "", newWires(), "close failed"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _, fake := faked(reload.Options{})
			err := reload.Serve(c.ctx, &http.Server{Addr: c.address}, reload.ServeOptions{Listener: c.listener, Close: func(context.Context) error { return closeFailed }}, r)
			if err == nil || err.Error() != c.want {
				t.Errorf("the error is %v", err)
			}
			if fake.Fetches() != 0 {
				t.Error("Run was called")
			}
			if w, ok := c.listener.(*wires); ok && !w.isClosed() {
				t.Error("the listener is open")
			}
		})
	}
}

// A Listener of its own is made at Addr; with a TLSConfig the server speaks TLS.
func TestServeListens(t *testing.T) {
	example := httptest.NewTLSServer(nil)
	example.Close()
	for name, c := range map[string]struct {
		scheme string
		config *tls.Config
	}{"in the clear": {"http", nil}, "with TLS": {"https", example.TLS}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			address := make(chan string, 1)
			server := &http.Server{
				Addr: "127.0.0.1:0", TLSConfig: c.config,
				Handler:     http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }),
				BaseContext: func(listener net.Listener) context.Context { address <- listener.Addr().String(); return ctx },
			}
			ended := make(chan error, 1)
			go func() { ended <- reload.Serve(ctx, server, reload.ServeOptions{}) }()
			response, err := example.Client().Get(c.scheme + "://" + <-address)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(response.Body)
			response.Body.Close()
			if string(text) != "hello" || err != nil {
				t.Errorf("%q, %v", text, err)
			}
			example.Client().CloseIdleConnections()
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestServeRunsAllReloaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "of the caller"))
		defer cancel()
		var all []*reload.Reloader
		for range 3 {
			c, _ := newTexts()
			all = append(all, reload.New(c, sourceFunc(func(ctx context.Context, _ string) (*reload.Content, error) {
				if ctx.Value(key{}) == nil {
					t.Error("ctx has no values of the caller")
				}
				return given("1", 3, "one").Fetch(ctx, "")
			}), load, reload.Options{Logger: quiet}))
		}
		ended := make(chan error, 1)
		go func() {
			ended <- reload.Serve(ctx, new(http.Server), reload.ServeOptions{Listener: newWires()}, all...)
		}()
		synctest.Wait()
		for i, r := range all {
			if r.Status().Version != 1 {
				t.Errorf("Reloader %d does not run", i)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		for i, r := range all {
			if !r.Status().Next.IsZero() {
				t.Errorf("Run of Reloader %d goes on", i)
			}
		}
	})
}

// A server that cannot speak TLS never gets as far as its listener.
func TestServeWithoutCertificateClosesItsListener(t *testing.T) {
	listener := newWires()
	err := reload.Serve(t.Context(), &http.Server{TLSConfig: new(tls.Config)}, reload.ServeOptions{Listener: listener})
	if err == nil || !listener.isClosed() {
		t.Errorf("the listener is closed: %v, the error is %v", listener.isClosed(), err)
	}
}

func TestMistakesOfServePanic(t *testing.T) {
	r, _, _ := faked(reload.Options{})
	server, options := new(http.Server), reload.ServeOptions{}
	var none context.Context
	for want, call := range map[string]func(){
		"reload: Serve with a nil Context":    func() { reload.Serve(none, server, options) },
		"reload: Serve with a nil Server":     func() { reload.Serve(t.Context(), nil, options) },
		"reload: Serve with a negative Grace": func() { reload.Serve(t.Context(), server, reload.ServeOptions{Grace: -1}) },
		"reload: Serve with a nil Reloader":   func() { reload.Serve(t.Context(), server, options, r, nil) },
	} {
		pooltest.WantPanic(t, want, call)
	}
}

func TestReady(t *testing.T) {
	users, c, fake := faked(reload.Options{})
	roles := reload.NewValue(given("1", 3, "one"), decode, reload.Options{Logger: quiet})
	handler := reload.Ready(users, roles.Reloader)
	answers := func(code int, body string) {
		t.Helper()
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
		if answer.Code != code || answer.Body.String() != body || answer.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%d %q, want %d %q; the header is %v", answer.Code, answer.Body, code, body, answer.Header())
		}
	}
	answers(503, "nothing is loaded from [\"fake\" \"given\"]\n")
	if err := roles.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	answers(503, "nothing is loaded from [\"fake\"]\n")
	push(fake, "one")
	if err := users.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	answers(200, "ready\n")
	push(fake, "bad") // the loaded content is old, and still served
	failsWith(t, users, reload.Loading)
	answers(200, "ready\n")
	is(t, c, "one")
	pooltest.WantPanic(t, "reload: Ready with a nil Reloader", func() { reload.Ready(users, nil) })
}
