package prometheus_test

import (
	"strings"
	"testing"
	"time"

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

// A server may send any time, also one that int64 has no nanoseconds for.
func TestModifiedInTheYear3000(t *testing.T) {
	status := func() reload.Status {
		return reload.Status{Source: "s", Modified: time.Date(3000, 1, 1, 0, 0, 0, 500_000_000, time.UTC)}
	}
	err := testutil.CollectAndCompare(poolmetrics.Reload("r", status), strings.NewReader(`
# HELP poolswap_reload_modified_timestamp_seconds When the loaded content was made, 0 if that is unknown.
# TYPE poolswap_reload_modified_timestamp_seconds gauge
poolswap_reload_modified_timestamp_seconds{reloader="r"} 3.25036800005e+10
`), "poolswap_reload_modified_timestamp_seconds")
	if err != nil {
		t.Error(err)
	}
}
