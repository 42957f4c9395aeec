package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

func TestReports(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	changed := s.ReportsChanged("asn")
	began := time.Now()
	for _, id := range []string{"b", "a", "a.b", "*", "ü/\xf0\x9f\x98\x80", "a"} {
		r := fleet.Report{ID: id, Labels: map[string]string{"region": "eu"}, Revision: "r1", Health: &fleet.Health{Requests: 7}, Received: began.Add(-time.Hour)}
		if err := s.Report(t.Context(), "asn", r); err != nil {
			t.Fatal(err)
		}
	}
	await(t, changed)
	var got []string
	for _, r := range s.Reports("asn") {
		got = append(got, r.ID)
		if r.Labels["region"] != "eu" || r.Health.Requests != 7 || r.Received.Before(began.Add(-time.Second)) {
			t.Errorf("the report is %+v", r)
		}
	}
	if fmt.Sprint(got) != "[* a a.b b ü/\U0001f600]" {
		t.Errorf("the reports are of %q", got)
	}
	for range 2 {
		if err := s.Leave(t.Context(), "asn", "a"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.Reports("asn")); n != 4 || len(s.Reports("other")) != 0 {
		t.Errorf("%d replicas report", n)
	}
	for what, one := range map[string]struct {
		name string
		r    fleet.Report
		want error
	}{
		"too long": {"asn", fleet.Report{ID: "a", Error: strings.Repeat("x", fleet.MaxReport)}, store.ErrTooLarge},
		"no id":    {"asn", fleet.Report{}, store.ErrInvalid},
		"no name":  {"", fleet.Report{ID: "a"}, store.ErrInvalid},
	} {
		if err := s.Report(t.Context(), one.name, one.r); !errors.Is(err, one.want) {
			t.Errorf("a report with %s: %v", what, err)
		}
	}
}

func TestReportsAreForgotten(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()}.WithReportTTL(2*time.Second))
	if err := s.Report(t.Context(), "asn", fleet.Report{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	for {
		changed := s.ReportsChanged("asn")
		if len(s.Reports("asn")) == 0 {
			break
		}
		await(t, changed)
	}
	eventually(t, "JetStream has forgotten it", func() bool { n, err := s.Messages(t.Context(), "reports"); return err == nil && n == 0 })
}

// One request must not replace or remove what others have reported or changed.
func TestStreamsRefuseRollups(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	for _, stream := range []string{"state", "reports", "history", "content"} {
		config, err := s.Config(t.Context(), stream)
		if err != nil || config.AllowRollup || config.DenyDelete != (stream == "history") {
			t.Errorf("stream %s is %+v, %v", stream, config, err)
		}
	}
}

// A node whose connection to JetStream breaks misses nothing.
func TestConnectionComesBack(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	for i := range 10 {
		if err := s.CutConnection(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is connected", func() bool { _, err := s.Messages(t.Context(), "state"); return err == nil })
		if err := s.Inject(t.Context(), fmt.Sprintf(`{"format": 1, "name": "asn", "epoch": 5, "seq": %d, "revisions": {}}`, i+1), "plan", "asn"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the node has the plan", func() bool {
			plan, err := s.Plan("asn")
			return err == nil && plan.Seq == uint64(i+1)
		})
	}
	publish(t, s, "asn", "r1", large(1))
}
