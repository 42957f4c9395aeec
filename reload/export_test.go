package reload

import "net/url"

// OpenRegular opens the files of File. A test cannot replace a file between File's
// stat and its open.
var OpenRegular = openRegular

// Redact is the text of an error without the secrets of a URL.
func Redact(text string, u *url.URL) string { return redact(text, secretsOf(u, nil)) }
