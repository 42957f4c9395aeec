package fleet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// credentials is the token of a Client. Clients hold a pointer to it, so that no
// format shows the text.
type credentials struct {
	file string // "" for a token that cannot change

	mu   sync.Mutex
	text string
}

func newCredentials(text, file string) (*credentials, error) {
	if (text == "") == (file == "") {
		return nil, errors.New("ClientOptions needs one of Token and TokenFile")
	}
	if file != "" {
		var err error
		if text, err = readToken(file); err != nil {
			return nil, err
		}
	}
	if err := checkToken(text); err != nil {
		return nil, err
	}
	return &credentials{file: file, text: text}, nil
}

// maxToken bounds the bytes of a token.
const maxToken = 4 << 10

func readToken(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("the token: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	if err != nil {
		return "", fmt.Errorf("the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if err := checkToken(token); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return token, nil
}

// checkToken returns an error, without the text, if a header cannot carry it.
func checkToken(text string) error {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	if text == "" || len(text) > maxToken || strings.ContainsFunc(text, odd) {
		return errors.New("the token is not one word of printable ASCII")
	}
	return nil
}

func (c *credentials) get() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text
}

// renewed reads the file again after a server has refused a token, and returns the
// newer one, if there is one.
func (c *credentials) renewed(refused string) (text string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.text == refused && c.file != "" {
		if text, err := readToken(c.file); err == nil { // otherwise the refusal says enough
			c.text = text
		}
	}
	return c.text, c.text != refused
}
