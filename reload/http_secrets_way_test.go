package reload_test

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// What Prepare puts into the URL, and what a cookie jar sends, is a secret after a
// redirect, too.
func TestNoRequestOnTheWayShowsItsSecrets(t *testing.T) {
	t.Parallel()
	server := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/login":
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "c00kie-of-jar", Path: "/"})
			http.Redirect(w, r, "/step?signature=of-the-step", http.StatusFound)
		case "/step":
			http.Redirect(w, r, "/denied", http.StatusTemporaryRedirect)
		default:
			session, _ := r.Cookie("session")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "denied: key k3y-in-query, signature of-the-step, session %s, password pa55word", session.Value)
		}
	})
	jar, _ := cookiejar.New(nil)
	r, _ := fromHTTP(server.URL+"/login", reload.HTTPOptions{
		Client: &http.Client{Jar: jar},
		Prepare: func(r *http.Request) error {
			r.URL.RawQuery = "key=k3y-in-query"
			r.SetBasicAuth("user", "pa55word")
			return nil
		},
	}, reload.Options{})
	failure := failsWith(t, r, reload.Fetching)
	if !strings.Contains(failure.Error(), "denied: key …") {
		t.Error(failure)
	}
	shown := everything(r, failure)
	for _, secret := range []string{"k3y-in-query", "of-the-step", "c00kie-of-jar", "pa55word"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown", secret)
		}
	}
}

// A panic of Prepare is shown like its error.
func TestAPanicOfPrepareShowsNoSecrets(t *testing.T) {
	t.Parallel()
	r, _ := fromHTTP("http://127.0.0.1:1/db?key=k3y-in-query", reload.HTTPOptions{Prepare: func(r *http.Request) error {
		r.Header.Set("X-Api-Key", "k3y-of-the-api")
		panic("no signer for " + r.URL.String() + " and k3y-of-the-api")
	}}, reload.Options{})
	failure := failsWith(t, r, reload.Fetching)
	shown := everything(r, failure)
	if !strings.Contains(shown, "panic: no signer for http://127.0.0.1:1/db?… and …") {
		t.Error(failure)
	}
	for _, secret := range []string{"k3y-in-query", "k3y-of-the-api"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown", secret)
		}
	}
}
