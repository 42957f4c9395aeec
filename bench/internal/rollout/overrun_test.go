package rollout

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

func TestOnlyContentThatCameTooFastIsPublishedAgain(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("too many requests"), false},
		{fmt.Errorf("fleet: %w", &jetstream.APIError{Code: 429, ErrorCode: 10167}), true},
		{fmt.Errorf("fleet: %w", &jetstream.APIError{Code: 400, ErrorCode: 10071}), false},
	} {
		if got := overrun(c.err); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}
