package reload_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// What Prepare adds is hidden as what the URL has is, however a server quotes it.
func TestSecretsThatPrepareAddsAreHidden(t *testing.T) {
	t.Parallel()
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no licence for "+r.URL.Query().Get("key")+", "+r.URL.Query().Get("pin")+", "+r.Header.Get("Cookie"), http.StatusForbidden)
	})
	r, _ := fromHTTP(s.URL+"/data", reload.HTTPOptions{Prepare: func(request *http.Request) error {
		request.URL.RawQuery = "key=ab%2Fcd%20ef&pin=q7z9"
		request.Header.Set("Cookie", "session=xyzzy")
		return nil
	}}, reload.Options{})
	text := failsWith(t, r, reload.Fetching).Error()
	for _, secret := range []string{"ab/cd ef", "q7z9", "xyzzy"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q shows %q", text, secret)
		}
	}
	if !strings.Contains(text, "no licence for") {
		t.Errorf("%q does not say how the body begins", text)
	}
}
