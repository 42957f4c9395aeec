package reload_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// Limits is a small object: a new one for each version is cheap.
type Limits struct {
	Requests int    `json:"requests"`
	Digest   string `json:"-"`
}

// decodeLimits names the content by its digest, which is the same on each host.
func decodeLimits(_ context.Context, content *reload.Content) (limits Limits, err error) {
	if err := json.NewDecoder(content.Body).Decode(&limits); err != nil {
		return limits, err
	}
	limits.Digest, err = content.SHA256()
	return limits, err
}

// A handler reads the current value. No pool is needed, and nothing is released.
func ExampleValue() {
	source := new(reloadtest.Fake)
	source.Push([]byte(`{"requests": 100}`))
	limits := reload.NewValue(source, decodeLimits, reload.Options{})
	handler := func(w http.ResponseWriter, _ *http.Request) {
		current, version := limits.Load()
		if version == 0 {
			http.Error(w, "no limits are loaded", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, "%d requests, by version %d", current.Requests, version)
	}
	ask := func() {
		answer := httptest.NewRecorder()
		handler(answer, httptest.NewRequest(http.MethodGet, "/", nil))
		fmt.Println(answer.Code, answer.Body)
	}
	ask()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go limits.Run(ctx)
	_, err := limits.Wait(ctx, 0) // until something is loaded, or ctx ends
	fmt.Println(err)
	ask()
	// Output:
	// 503 no limits are loaded
	//
	// <nil>
	// 200 100 requests, by version 1
}

func ExampleNewValue() {
	source := new(reloadtest.Fake)
	source.Push([]byte(`{"requests": 100}`))
	limits := reload.NewValue(source, decodeLimits, reload.Options{})
	fmt.Println(limits.Reload(context.Background()))
	source.Push([]byte(`{"requests": `)) // is refused: the current value stays
	err := limits.Reload(context.Background())
	current, version := limits.Load()
	fmt.Println(current.Requests, version, limits.Status().State(), errors.Is(err, io.ErrUnexpectedEOF))
	// Output:
	// <nil>
	// 100 1 refused true
}

// load can keep the digest of the content, to show it with each answer.
func ExampleContent_SHA256() {
	source := new(reloadtest.Fake)
	source.Push([]byte(`{"requests": 100}`))
	limits := reload.NewValue(source, decodeLimits, reload.Options{})
	_ = limits.Reload(context.Background())
	current, _ := limits.Load()
	fmt.Println(current.Digest == limits.Status().SHA256)
	// Output: true
}
