package prometheus_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	poolmetrics "github.com/poolswap/poolswap/metrics/prometheus"
	"github.com/poolswap/poolswap/reload"
)

// A server may send an ETag that is no UTF-8, and a file may have such a name.
func TestRevisionWithoutUTF8(t *testing.T) {
	status := func() reload.Status {
		return reload.Status{Source: "data\xff", Revision: "etag \"caf\xe9\"", Version: 1}
	}
	err := testutil.CollectAndCompare(poolmetrics.Reload("r", status), strings.NewReader(`
# HELP poolswap_reload_info Source, revision, version and SHA-256 of the loaded content, and the source that served it if there are several; the value is 1.
# TYPE poolswap_reload_info gauge
poolswap_reload_info{reloader="r",revision="etag \"caf�\"",served_by="",sha256="",source="data�",version="1"} 1
`), "poolswap_reload_info")
	if err != nil {
		t.Error(err)
	}
}
