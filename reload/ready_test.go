package reload_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
)

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
