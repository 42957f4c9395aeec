package reload

import (
	"fmt"
	"net/http"
	"slices"
)

// Ready returns a handler for readiness probes. It answers 200 once each Reloader has
// loaded something, and from then on: an old table is better than no service. Before,
// it answers 503, and names the sources that have given nothing yet. It shows no
// errors, which may quote content. Ready panics if a Reloader is nil.
func Ready(reloaders ...*Reloader) http.Handler {
	if slices.Contains(reloaders, nil) {
		panic("reload: Ready with a nil Reloader")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var missing []string
		for _, r := range reloaders {
			if r.Status().Version == 0 {
				missing = append(missing, r.name)
			}
		}
		w.Header().Set("Cache-Control", "no-store")
		if len(missing) > 0 {
			http.Error(w, fmt.Sprintf("nothing is loaded from %q", missing), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
}
