package reload_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

func TestOpen(t *testing.T) {
	file, http := fmt.Sprintf("%T", reload.File("x")), fmt.Sprintf("%T", reload.HTTP("http://host", reload.HTTPOptions{}))
	for name, want := range map[string]struct{ kind, name string }{
		"table.txt":                        {file, "table.txt"},
		"./a/b":                            {file, "./a/b"},
		"/var/lib/a b":                     {file, "/var/lib/a b"},
		`C:\table.txt`:                     {file, `C:\table.txt`},
		"12:30":                            {file, "12:30"},
		"a:b":                              {file, "a:b"},
		"dir/http://x":                     {file, "dir/http://x"},
		"httpd/x":                          {file, "httpd/x"},
		"file:///var/lib/a%20b%3F":         {file, "/var/lib/a b?"},
		"FILE://localhost/table.txt":       {file, "/table.txt"},
		"http://host":                      {http, "http://host"},
		"https://host:8443/x?licence=4711": {http, "https://host:8443/x"},
		"HTTPS://Host/x":                   {http, "https://Host/x"},
	} {
		source, err := reload.Open(name)
		if got := fmt.Sprintf("%T", source); got != want.kind || fmt.Sprint(source) != want.name || err != nil {
			t.Errorf("%s: %s %v, %v; want %s", name, got, source, err, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"":                         "an empty name",
		"ftp://host/x":             "a URL with the scheme ftp: only http, https and file are known",
		"s3+zstd://bucket/x":       "a URL with the scheme s3+zstd: only http, https and file are known",
		"http:/host/x":             "a malformed http URL",
		"https:host/x":             "a malformed https URL",
		"file:table.txt":           "a malformed file URL",
		"http://ho st/secret":      "a malformed http URL",
		"https://host/secret\n":    "a malformed https URL",
		"https://host/%zzsecret":   "a malformed https URL",
		"http://":                  "an http URL without a host",
		"https:///secret?a=b":      "an https URL without a host",
		"http://:80/secret":        "an http URL without a host",
		"file://host/secret":       "a file URL with a host: a path begins with a third slash, as in file:///table.txt",
		"file://me@localhost/x":    "a file URL with a host: a path begins with a third slash, as in file:///table.txt",
		"file://":                  "a file URL without a path",
		"file:///secret?key=value": "a file URL with a query or a fragment: write ? as %3F and # as %23",
		"file:///secret?":          "a file URL with a query or a fragment: write ? as %3F and # as %23",
		"file:///secret#1":         "a file URL with a query or a fragment: write ? as %3F and # as %23",
	} {
		source, err := reload.Open(name)
		if source != nil || err == nil || err.Error() != "reload: Open of "+want || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, %v; want %s", name, source, err, want)
		}
	}
}
