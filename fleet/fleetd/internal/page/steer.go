package page

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/steer"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// steerTime bounds a change of a plan.
const steerTime = 15 * time.Second

// formError is the error of a form that asks for something impossible.
type formError string

func (e formError) Error() string { return string(e) }

// kinds are the operations that the page has forms for.
var kinds = []fleet.Kind{
	fleet.KindCanary, fleet.KindRollout, fleet.KindPromote, fleet.KindRollback, fleet.KindPin, fleet.KindUnpin, fleet.KindPause, fleet.KindResume,
}

// operationOf returns the operation that a form asks for.
func operationOf(form url.Values) (op fleet.Operation, err error) {
	op = fleet.Operation{Kind: fleet.Kind(form.Get("do")), Revision: form.Get("revision"), ID: strings.TrimSpace(form.Get("id")), Why: strings.TrimSpace(form.Get("why"))}
	switch {
	case !slices.Contains(kinds, op.Kind) || !form.Has("plan"):
		return op, formError("That form is not one of this page: load the page again")
	case op.Why == "":
		return op, formError("say why: it is recorded, and the others read it")
	case !utf8.ValidString(op.Why):
		return op, formError("the reason is no text")
	case op.Kind == fleet.KindCanary:
		op.Selection, err = selectionOf(form)
	case op.Kind == fleet.KindRollout:
		op.Steps, op.Bake, err = stepsOf(form)
	}
	if err == nil {
		err = op.Check()
	}
	if err != nil {
		return op, formError(err.Error())
	}
	return op, nil
}

// fields returns the texts between commas.
func fields(text string) (all []string) {
	for field := range strings.SplitSeq(text, ",") {
		if field = strings.TrimSpace(field); field != "" {
			all = append(all, field)
		}
	}
	return all
}

func selectionOf(form url.Values) (s fleet.Selection, err error) {
	if text := form.Get("percent"); strings.TrimSpace(text) != "" {
		if s.Share, err = shareOf(text); err != nil {
			return s, err
		}
	}
	for _, label := range fields(form.Get("labels")) {
		key, value, ok := strings.Cut(label, "=")
		if !ok {
			return s, fmt.Errorf("%q is no label: labels look like region=eu", label)
		}
		if s.Labels == nil {
			s.Labels = map[string]string{}
		}
		s.Labels[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	s.IDs = fields(form.Get("ids"))
	return s, nil
}

// shareOf returns the share of a text such as "10" or "0.5 %".
func shareOf(text string) (float64, error) {
	percent, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%")), 64)
	if err != nil || !(percent > 0 && percent <= 100) {
		return 0, fmt.Errorf("%q is no share: it is a number of percent above 0 and up to 100", text)
	}
	return percent / 100, nil
}

func stepsOf(form url.Values) (steps []float64, bake time.Duration, err error) {
	for _, text := range fields(form.Get("steps")) {
		share, err := shareOf(text)
		if err != nil {
			return nil, 0, err
		}
		steps = append(steps, share)
	}
	minutes, err := strconv.ParseFloat(strings.TrimSpace(form.Get("bake")), 64)
	if err != nil || !(minutes > 0 && minutes <= 1e6) {
		return nil, 0, errors.New("each step is watched for a number of minutes above 0")
	}
	return steps, time.Duration(minutes * float64(time.Minute)), nil
}

// steer does the operation of a form, on the plan that its page showed.
func (p *Page) steer(w http.ResponseWriter, r *http.Request, u *user) {
	if !parseForm(w, r) {
		return
	}
	name := r.URL.Query().Get("name")
	if !u.may(fleet.OperatorRole, name) {
		http.Error(w, "Your token may not steer this name. Nothing was done.", http.StatusForbidden)
		return
	}
	op, err := operationOf(r.PostForm)
	if err == nil {
		err = p.do(r.Context(), u, name, op, r.PostForm)
	}
	if err == nil {
		http.Redirect(w, r, "/fleet?name="+url.QueryEscape(name), http.StatusSeeOther)
		return
	}
	v := p.viewOf(u, name, filter{Page: 1})
	v.Error = refusal(name, err)
	if errors.Is(err, fleet.ErrConflict) && v.Plan != nil {
		last := v.Plan.Change
		v.Error += fmt.Sprintf(" Plan %d is by %s, who %s.", last.Seq, last.By, did(last))
	}
	if utf8.ValidString(op.Why) && len(op.Why) <= fleet.MaxWhy {
		v.Why = op.Why
	}
	render(w, statusOf(err), "fleet", v)
}

// do changes the plan that the form is for. The form that ends a canary is for each
// plan that tries the same revision: a rollout takes its next step while a person
// decides that it must end.
func (p *Page) do(ctx context.Context, u *user, name string, op fleet.Operation, form url.Values) error {
	ctx, cancel := context.WithTimeout(ctx, steerTime)
	defer cancel()
	at := form.Get("plan")
	if ends := form.Get("ends"); ends != "" && op.Kind == fleet.KindRollback && op.Revision == "" {
		if plan, err := p.store.Plan(name); err == nil && plan.Canary != nil && plan.Canary.Revision == ends {
			at = plan.Version()
		}
	}
	plan, err := steer.Do(ctx, p.store, name, at, u.Name, op)
	if err == nil {
		p.options.Logger.Info("fleetd: the plan was changed on the page", slog.String("name", name), slog.String("by", u.Name), slog.String("token", u.ID),
			slog.String("kind", string(op.Kind)), slog.String("revision", plan.Change.To), slog.String("plan", plan.Version()), slog.String("why", op.Why))
	}
	return err
}

// statusOf returns the status of an answer with an error, or without one.
func statusOf(err error) int {
	var form formError
	var refused *steer.RefusedError
	switch {
	case err == nil:
		return http.StatusOK
	case errors.Is(err, fleet.ErrConflict):
		return http.StatusConflict
	case errors.As(err, &form), errors.Is(err, store.ErrInvalid):
		return http.StatusBadRequest
	case errors.As(err, &refused), errors.Is(err, store.ErrRefused), errors.Is(err, store.ErrNotFound):
		return http.StatusUnprocessableEntity
	case errors.Is(err, fleet.ErrNoPlan):
		return http.StatusNotFound
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// refusal says in plain words why nothing was done.
func refusal(name string, err error) string {
	text := plain(name, err)
	switch statusOf(err) {
	case http.StatusConflict:
		return "The plan was changed meanwhile, so nothing was done. Look at it as it is now, and decide again."
	case http.StatusBadRequest:
		return sentence(text) + " Nothing was done."
	case http.StatusServiceUnavailable:
		return "The server could not store the change in time: " + text + ". Look at the history: it may have been made."
	case http.StatusInternalServerError:
		return "The change failed: " + text + ". Look at the history: it may have been made."
	}
	return "It was refused. " + sentence(text)
}

// plain returns the text of an error without the name, which the page shows elsewhere.
func plain(name string, err error) string { return strings.TrimPrefix(err.Error(), name+": ") }

// sentence returns the text of an error as a sentence.
func sentence(text string) string {
	if first, size := utf8.DecodeRuneInString(text); first < utf8.RuneSelf {
		text = strings.ToUpper(text[:size]) + text[size:]
	}
	return strings.TrimSuffix(text, ".") + "."
}
