package fleet

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// longWork is how long a server may take to read all content of a name.
const longWork = time.Hour

// Names returns the names that the token may see.
func (c *Client) Names(ctx context.Context) ([]string, error) {
	var list struct{ Names []string }
	err := c.get(ctx, "get the names", &list, nil, "names")
	return list.Names, err
}

// Tokens returns the tokens, without their texts.
func (c *Client) Tokens(ctx context.Context) ([]Token, error) {
	var list struct{ Tokens []Token }
	err := c.get(ctx, "get the tokens", &list, nil, "tokens")
	return list.Tokens, err
}

// NewToken makes a token like t, whose ID and Text the server chooses. The Text is in
// the result alone.
func (c *Client) NewToken(ctx context.Context, t Token) (Token, error) {
	var made Token
	_, err := c.do(ctx, &request{op: "make a token", method: http.MethodPost, path: []string{"tokens"}, body: t, into: &made, once: true})
	return made, err
}

// RevokeToken ends a token, by its ID.
func (c *Client) RevokeToken(ctx context.Context, id string) error {
	_, err := c.do(ctx, &request{op: "revoke a token", method: http.MethodDelete, path: []string{"tokens", id}})
	return err
}

// RemoveName removes a name: its plan, history, reports and content. Replicas keep the
// content that they run.
func (c *Client) RemoveName(ctx context.Context, name, why string) error {
	_, err := c.do(ctx, &request{op: "remove " + name, method: http.MethodDelete, path: []string{"names", name}, query: url.Values{"why": {why}}, wait: time.Minute})
	return err
}

// Verify lets the server read all stored content of a name. It returns how many
// revisions it read, and which of them are damaged, and how.
func (c *Client) Verify(ctx context.Context, name string) (checked int, damaged []string, err error) {
	var result struct {
		Checked int
		Damaged []string
	}
	_, err = c.do(ctx, &request{op: "verify " + name, method: http.MethodPost, path: []string{"names", name, "verify"}, into: &result, limit: maxPage, wait: longWork})
	return result.Checked, result.Damaged, err
}

// Repair replaces a plan that cannot be read, or that replicas are ahead of, by one of a
// new epoch in which revision is stable.
func (c *Client) Repair(ctx context.Context, name, revision, why string) (*Plan, error) {
	plan := new(Plan)
	_, err := c.do(ctx, &request{
		op: "repair " + name, method: http.MethodPost, path: []string{"names", name, "repair"},
		body: map[string]string{"revision": revision, "why": why}, into: plan, once: true,
	})
	if err != nil {
		return nil, err
	}
	return plan, nil
}
