package page

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

const (
	maxWhy    = 500 // bytes
	steerTime = 15 * time.Second
)

// formError is the error of a form that cannot be what the page made.
type formError string

func (e formError) Error() string { return string(e) }

var errDown = errors.New("there is no connection to it")

// actions are what the forms can do.
var actions = map[string]func(ctx context.Context, c *fleet.Controller, form url.Values, why string) (*fleet.Plan, error){
	"canary": canary,
	"promote": func(ctx context.Context, c *fleet.Controller, _ url.Values, why string) (*fleet.Plan, error) {
		return c.Promote(ctx, why)
	},
	"rollback": func(ctx context.Context, c *fleet.Controller, form url.Values, why string) (*fleet.Plan, error) {
		return c.Rollback(ctx, form.Get("revision"), why)
	},
	"pin": func(ctx context.Context, c *fleet.Controller, form url.Values, why string) (*fleet.Plan, error) {
		return c.Pin(ctx, form.Get("id"), form.Get("revision"), why)
	},
	"unpin": func(ctx context.Context, c *fleet.Controller, form url.Values, why string) (*fleet.Plan, error) {
		return c.Unpin(ctx, form.Get("id"), why)
	},
	"pause": func(ctx context.Context, c *fleet.Controller, _ url.Values, why string) (*fleet.Plan, error) {
		return c.Pause(ctx, why)
	},
	"resume": func(ctx context.Context, c *fleet.Controller, _ url.Values, why string) (*fleet.Plan, error) {
		return c.Resume(ctx, why)
	},
}

func canary(ctx context.Context, c *fleet.Controller, form url.Values, why string) (*fleet.Plan, error) {
	if form.Get("how") == "ids" {
		if len(form["id"]) == 0 {
			return nil, formError("Choose the replicas of the canary.")
		}
		return c.Canary(ctx, form.Get("revision"), 0, why, form["id"]...)
	}
	percent, err := strconv.ParseFloat(strings.TrimSpace(form.Get("percent")), 64)
	if err != nil || math.IsNaN(percent) || percent <= 0 || percent > 100 {
		return nil, formError("The share of the replicas is a number above 0 and up to 100.")
	}
	return c.Canary(ctx, form.Get("revision"), percent/100, why)
}

// steer does what a form asks for, to the plan that its page showed.
func (p *Page) steer(w http.ResponseWriter, r *http.Request, s *session) {
	if !parseForm(w, r) {
		return
	}
	name, why := r.URL.Query().Get("name"), strings.TrimSpace(r.PostForm.Get("why"))
	err := p.change(r.Context(), s, name, why, r.PostForm)
	if err == nil {
		http.Redirect(w, r, "/fleet?name="+url.QueryEscape(name), http.StatusSeeOther)
		return
	}
	v, viewErr := p.viewOf(r.Context(), s, name)
	if viewErr != nil {
		http.Error(w, viewErr.Error(), http.StatusBadRequest)
		return
	}
	var code int
	code, v.Error = refusal(name, err)
	if code == http.StatusConflict && v.Status != nil {
		last := v.Plan().Change
		v.Error += fmt.Sprintf(" Plan %d is by %s, who %s.", v.Plan().Seq, last.By, v.Did(last))
	}
	if utf8.ValidString(why) && len(why) <= maxWhy {
		v.Why = why
	}
	render(w, code, "fleet", v)
}

// change makes the change that a form asks for.
func (p *Page) change(ctx context.Context, s *session, name, why string, form url.Values) error {
	action, ok := actions[form.Get("do")]
	epoch, epochErr := strconv.ParseUint(form.Get("epoch"), 10, 64)
	seq, seqErr := strconv.ParseUint(form.Get("seq"), 10, 64)
	switch {
	case !ok || epochErr != nil || seqErr != nil:
		return formError("That form is not one of this page. Load the page again.")
	case why == "":
		return formError("Say why: it is recorded, and the others read it.")
	case len(why) > maxWhy || !utf8.ValidString(why):
		return formError(fmt.Sprintf("The reason is longer than %d bytes, or no text.", maxWhy))
	}
	c, err := fleet.NewController(p.options.Conn, name, s.by)
	if err != nil {
		return formError(err.Error())
	}
	if !p.options.Conn.IsConnected() {
		return errDown
	}
	ctx, cancel := context.WithTimeout(ctx, steerTime)
	defer cancel()
	_, err = action(ctx, c.At(epoch, seq), form, why)
	return err
}

// refusal says in plain words why nothing was done.
func refusal(name string, err error) (code int, text string) {
	var form formError
	switch {
	case errors.Is(err, fleet.ErrConflict):
		return http.StatusConflict, "The plan was changed meanwhile, so nothing was done. Look at it as it is now, and decide again."
	case errors.As(err, &form):
		return http.StatusBadRequest, string(form) + " Nothing was done."
	case errors.Is(err, errDown):
		return http.StatusServiceUnavailable, "The server of the fleet cannot be reached. Nothing was done."
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable, "The server of the fleet did not answer: " + plainError(name, err) + ". Look at the history: the change may have been made."
	}
	return http.StatusUnprocessableEntity, "It was refused: " + plainError(name, err) + "."
}
