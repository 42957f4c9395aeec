package verify

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The server forgets a report while the reports are listed, as when its time is
// up: about one round in ten meets the moment. The status does not wait for what
// is gone.
func TestAReportThatVanishesIsNotWaitedFor(t *testing.T) {
	long(t)
	const rounds = 40
	m := newTeam(t, 0)
	m.publish(t, "content")
	conn := m.dial()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	reports, err := js.Stream(t.Context(), "KV_poolswap-reports")
	if err != nil {
		t.Fatal(err)
	}
	for name, first := range map[string]func() error{
		"Status": func() error {
			_, err := m.Status(t.Context())
			return err
		},
		"Watch": func() error {
			for _, err := range m.Watch(t.Context()) {
				return err
			}
			return t.Context().Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range rounds {
				putReport(t, conn, "table.a", `{"id":"a"}`)
				purged := make(chan error, 1)
				go func() {
					time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
					purged <- reports.Purge(t.Context())
				}()
				err := first()
				if err := <-purged; err != nil {
					t.Fatal(err)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
