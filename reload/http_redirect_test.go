package reload_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

func TestARedirectGetsNoQueryInReferer(t *testing.T) {
	t.Parallel()
	var referers []string
	mux := http.NewServeMux()
	mux.HandleFunc("/stored", func(w http.ResponseWriter, r *http.Request) {
		referers = append(referers, r.Referer())
		fmt.Fprint(w, "content")
	})
	mux.HandleFunc("/list", func(w http.ResponseWriter, r *http.Request) {
		referers = append(referers, r.Referer())
		http.Redirect(w, r, "/stored?signature=other", http.StatusFound)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	c, _ := newTexts()
	r := reload.New(c, reload.HTTP(server.URL+"/list?licence=secret", reload.HTTPOptions{}), load, reload.Options{Logger: quiet})
	succeeds(t, r, c, "content")
	if want := server.URL + "/list"; len(referers) != 2 || referers[0] != want || referers[1] != want {
		t.Errorf("Referer is %q, want twice %q", referers, want)
	}
}
