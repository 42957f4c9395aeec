package reload

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// Open returns the Source of a name from a flag or a configuration: [HTTP] for a URL
// with the scheme http or https, [File] for a path, and for a URL with the scheme
// file, as in file:///var/lib/table.txt. Where options are wanted, call HTTP, which panics
// for a URL that Open takes for an error.
//
// Any other name is an error: another scheme, an http or https URL without a host, a
// file URL with a host, a query or a fragment, an empty name. The error does not show
// the name, which may hold a key. A file need not be there yet.
func Open(pathOrURL string) (Source, error) {
	if pathOrURL == "" {
		return nil, errors.New("reload: Open of an empty name")
	}
	match := urlStart.FindStringSubmatch(pathOrURL)
	if match == nil {
		return File(pathOrURL), nil
	}
	scheme := strings.ToLower(match[1])
	known := scheme == "http" || scheme == "https" || scheme == "file"
	switch u, err := url.Parse(pathOrURL); {
	case !known && match[2] == "": // a path with a colon, such as C:\table.txt
		return File(pathOrURL), nil
	case !known:
		return nil, fmt.Errorf("reload: Open of a URL with the scheme %s: only http, https and file are known", scheme)
	case match[2] == "" || err != nil:
		return nil, fmt.Errorf("reload: Open of a malformed %s URL", scheme) // err would quote it
	case scheme == "file":
		return openFileURL(u)
	case u.Hostname() == "":
		return nil, fmt.Errorf("reload: Open of an %s URL without a host", scheme)
	}
	return HTTP(pathOrURL, HTTPOptions{}), nil
}

// urlStart finds a scheme, and the slashes after it.
var urlStart = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):(//)?`)

func openFileURL(u *url.URL) (Source, error) {
	switch path := u.Path; {
	case u.Host != "" && u.Host != "localhost" || u.User != nil:
		return nil, errors.New("reload: Open of a file URL with a host: a path begins with a third slash, as in file:///table.txt")
	case path == "":
		return nil, errors.New("reload: Open of a file URL without a path")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("reload: Open of a file URL with a query or a fragment: write ? as %3F and # as %23")
	default:
		if runtime.GOOS == "windows" { // of /C:/table.txt
			path = strings.TrimPrefix(path, "/")
		}
		return File(filepath.FromSlash(path)), nil
	}
}
