package store_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

func ids(stored []fleet.Stored) (all []string) {
	for _, one := range stored {
		all = append(all, one.ID)
	}
	slices.Sort(all)
	return all
}

func TestRetainKeepsWhatIsUsed(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Options{Dir: dir})
	for _, id := range []string{"reported", "failed", "old1", "old2", "new1", "new2", "claimed", "stable"} {
		put(t, s, "asn", id, "content of "+id)
	}
	put(t, s, "other", "r1", "content of old1")
	put(t, s, "other", "r2", "content of r2")
	if _, err := tryPublish(t.Context(), s, "asn", "", "stable"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(t.Context(), "asn", "claimed"); err != nil {
		t.Fatal(err)
	}
	if err := s.Report(t.Context(), "asn", fleet.Report{ID: "a", Revision: "reported", Failed: "failed"}); err != nil {
		t.Fatal(err)
	}
	if gone, err := s.Retain(t.Context(), "asn", 0, time.Hour); err != nil || len(gone) > 0 {
		t.Errorf("young revisions are removed: %v, %v", gone, err)
	}
	gone, err := s.Retain(t.Context(), "asn", 2, 0)
	if got := fmt.Sprint(ids(gone)); err != nil || got != "[old1 old2]" {
		t.Errorf("removed are %s, %v", got, err)
	}
	left, err := s.Revisions(t.Context(), "asn")
	if got := fmt.Sprint(ids(left)); err != nil || got != "[claimed failed new1 new2 reported stable]" {
		t.Errorf("left are %s, %v", got, err)
	}
	if _, err := s.Claim(t.Context(), "asn", "old1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Claim of a removed revision: %v", err)
	}
	wantNothing(t, s, dir, 8, 8) // the content of old1 is another name's, too
	if again := put(t, s, "asn", "old2", "other"); again.Size != 5 {
		t.Errorf("an id that was removed: %+v", again)
	}
}

func TestRetainKeepsTheBasesOfDeltas(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	putOn := func(id, base, text string) {
		t.Helper()
		r := fleet.Revision{ID: id, Base: base, Created: time.Now()}
		if _, err := s.Put(t.Context(), "asn", r, -1, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	whole := strings.Repeat("0123456789", 10)
	putOn("gone", "", whole)
	putOn("gone1", "gone", "0")
	putOn("whole", "", whole)
	putOn("delta1", "whole", "0")
	putOn("side", "delta1", "1")
	for i := 2; i < 9; i++ {
		putOn(fmt.Sprint("delta", i), fmt.Sprint("delta", i-1), "0")
	}
	if _, err := tryPublish(t.Context(), s, "asn", "", "delta8"); err != nil {
		t.Fatal(err)
	}
	store.Unclaim(s, "asn")
	gone, err := s.Retain(t.Context(), "asn", 0, 0)
	if got := fmt.Sprint(ids(gone)); err != nil || got != "[gone gone1 side]" {
		t.Errorf("removed are %s, %v", got, err)
	}
	chain, err := s.Chain(t.Context(), "asn", "delta8", "")
	if err != nil || len(chain) != 9 {
		t.Errorf("the chain is %+v, %v", chain, err)
	}
	if _, err := s.Chain(t.Context(), "asn", "side", ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the chain of a removed revision: %v", err)
	}
}

// A replica takes no longer chain.
func TestDeltasAreBoundedInNumber(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	base := ""
	for i := range fleet.MaxDeltas + 2 {
		r, text := fleet.Revision{ID: fmt.Sprint("r", i), Base: base, Created: time.Now()}, "0"
		if base == "" {
			text = strings.Repeat("0", 4*fleet.MaxDeltas+8)
		}
		_, err := s.Put(t.Context(), "asn", r, -1, strings.NewReader(text))
		if i <= fleet.MaxDeltas && err != nil || i > fleet.MaxDeltas && !errors.Is(err, store.ErrSnapshot) {
			t.Fatalf("revision %d: %v", i, err)
		}
		base = r.ID
	}
	if chain, err := s.Chain(t.Context(), "asn", fmt.Sprint("r", fleet.MaxDeltas), ""); err != nil || len(chain) != fleet.MaxDeltas+1 {
		t.Errorf("the chain has %d revisions, %v", len(chain), err)
	}
}

// A revision that a plan names no more may be on its way to a replica.
func TestRetainKeepsWhatWasNamedOfLate(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	for _, id := range []string{"r1", "r2", "r3"} {
		publish(t, s, "asn", id, id)
	}
	revisions, err := s.Revisions(t.Context(), "asn")
	if err != nil || len(revisions) != 3 || revisions[0].ID != "r1" { // its age counts from the change that ended it
		t.Errorf("the revisions are %v, %v", revisions, err)
	}
	if gone, err := s.Retain(t.Context(), "asn", 0, 0); err != nil || len(gone) > 0 {
		t.Errorf("removed are %v, %v", gone, err)
	}
}

// Whatever comes first: a plan names no revision that is not stored.
func TestRetainAgainstClaims(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	published, removed := 0, 0
	for i := range 100 {
		id := fmt.Sprint("r", i)
		put(t, s, "asn", id, id)
		done := make(chan error)
		go func() {
			_, err := s.Retain(t.Context(), "asn", 0, 0)
			done <- err
		}()
		plan, err := tryPublish(t.Context(), s, "asn", "", id)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if errors.Is(err, store.ErrNotFound) {
			removed++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		published++
		if _, err := s.Claim(t.Context(), "asn", plan.Stable); err != nil {
			t.Fatalf("the plan names %v", err)
		}
		wantContent(t, s, "asn", plan.Revisions[id], id)
	}
	t.Logf("%d were published, %d removed first", published, removed)
}

func TestRemovedNameBeginsAHigherEpoch(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Options{Dir: dir})
	if err := s.Remove(t.Context(), "asn"); !errors.Is(err, fleet.ErrNoPlan) {
		t.Errorf("Remove of an unknown name: %v", err)
	}
	future := uint64(time.Now().Add(time.Hour).Unix()) << 20 // by a clock that was ahead
	if err := s.Inject(t.Context(), fmt.Sprintf(`{"format": 1, "name": "asn", "epoch": %d, "seq": 3, "revisions": {}}`, future), "plan", "asn"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the plan is there", func() bool { _, err := s.Plan("asn"); return err == nil })
	last := publish(t, s, "asn", "r1", large(1))
	publish(t, s, "other", "r1", "other")
	if err := s.Report(t.Context(), "asn", fleet.Report{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	changed := s.PlanChanged("asn")
	for range 2 { // the second has nothing to do
		if err := s.Remove(t.Context(), "asn"); err != nil {
			t.Fatal(err)
		}
	}
	await(t, changed)
	check := func() {
		t.Helper()
		if _, err := s.Plan("asn"); !errors.Is(err, fleet.ErrNoPlan) {
			t.Errorf("Plan: %v", err)
		}
		if revisions, err := s.Revisions(t.Context(), "asn"); err != nil || len(revisions) > 0 {
			t.Errorf("Revisions: %v, %v", revisions, err)
		}
		if history, err := s.History(t.Context(), "asn", "", 1); !errors.Is(err, fleet.ErrNoPlan) {
			t.Errorf("History: %v, %v", history, err)
		}
		if _, err := s.Content(t.Context(), "asn", last.Revisions["r1"].SHA256); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Content: %v", err)
		}
		if names := s.Names(); fmt.Sprint(names) != "[other]" || len(s.Reports("asn")) > 0 {
			t.Errorf("the names are %q, the reports %v", names, s.Reports("asn"))
		}
		wantNothing(t, s, dir, 1, 1)
	}
	check()
	for stream, want := range map[string]uint64{"history": 1, "reports": 0, "state": 3} {
		if n, err := s.Messages(t.Context(), stream); err != nil || n != want {
			t.Errorf("stream %s has %d messages, want %d: %v", stream, n, want, err)
		}
	}
	s.Close()
	s = open(t, store.Options{Dir: dir})
	check()
	if plan := publish(t, s, "asn", "r1", "again"); plan.Epoch <= last.Epoch || plan.Seq != 1 {
		t.Errorf("the new plan is %s, and the removed one was %s", plan.Version(), last.Version())
	}
}

func TestSignOnce(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	put(t, s, "asn", "r1", "one")
	signature, other := make([]byte, 64), make([]byte, 64)
	rand.Read(signature)
	for _, one := range []struct {
		id        string
		signature []byte
		want      error
	}{
		{"r1", signature[:63], store.ErrInvalid},
		{"r2", signature, store.ErrNotFound},
		{"r1", signature, nil},
		{"r1", signature, nil},
		{"r1", other, store.ErrRefused},
	} {
		if err := s.Sign(t.Context(), "asn", one.id, one.signature); !errors.Is(err, one.want) {
			t.Errorf("Sign of %s: %v, want %v", one.id, err, one.want)
		}
	}
	plan, err := tryPublish(t.Context(), s, "asn", "", "r1")
	if err != nil || string(plan.Revisions["r1"].Signature) != string(signature) {
		t.Errorf("the plan has %+v, %v", plan, err)
	}
	if err := s.Sign(t.Context(), "asn", "r1", signature); !errors.Is(err, store.ErrRefused) {
		t.Errorf("Sign of a published revision: %v", err)
	}
}

func TestTokens(t *testing.T) {
	o := store.Options{Dir: t.TempDir()}
	s := open(t, o)
	now := time.Now().UTC()
	for i := range 3 {
		token := fleet.Token{ID: fmt.Sprint("t", 2-i), Name: "ann", Role: fleet.AdminRole, Created: now.Add(time.Duration(i)), Text: "secret"}
		if err := s.PutToken(t.Context(), store.Secret{Token: token, Hash: []byte{byte(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want string) {
		t.Helper()
		var all []string
		for _, token := range s.Tokens() {
			all = append(all, token.ID)
		}
		if got := strings.Join(all, " "); got != want {
			t.Errorf("the tokens are %q, want %q", got, want)
		}
	}
	check("t2 t1 t0")
	if err := s.DeleteToken(t.Context(), "t1"); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteToken(t.Context(), "t1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("DeleteToken of a revoked token: %v", err)
	}
	check("t2 t0")
	s.Close()
	s = open(t, o)
	check("t2 t0")
	if secret, ok := s.Token("t0"); !ok || secret.Hash[0] != 2 || secret.Name != "ann" || secret.Text != "" || !secret.Created.Equal(now.Add(2)) {
		t.Errorf("token t0 is %+v, %t", secret, ok)
	}
	if stored, err := s.Stored(t.Context(), "token", "t0"); err != nil || strings.Contains(stored, "secret") {
		t.Errorf("stored is %s, %v", stored, err)
	}
}
