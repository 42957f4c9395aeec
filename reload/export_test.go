package reload

import (
	"encoding/json"
	"net/url"
)

// Resum returns the text of a changed kept.json with its sum, as somebody writes it who
// knows how. One that cannot be read stays.
func Resum(text []byte) []byte {
	var k kept
	if json.Unmarshal(text, &k) != nil {
		return text
	}
	k.Sum = k.sum()
	text, _ = json.MarshalIndent(k, "", "\t")
	return text
}

// OpenRegular opens the files of File. A test cannot replace a file between File's
// stat and its open.
var OpenRegular = openRegular

// Redact is the text of an error without the secrets of a URL.
func Redact(text string, u *url.URL) string { return redact(text, secretsOf(u, nil)) }

// LockDir locks a directory for a Cache that nothing refers to any more.
func LockDir(dir string) error {
	_, err := lockDir(dir)
	return err
}
