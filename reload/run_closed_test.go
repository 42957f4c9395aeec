package reload_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// A container that is closed ends Run in the middle of an attempt.
func TestRunEndsWhenTheContainerClosesWhileTheSourceAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		r := reload.New(c, sourceFunc(func(ctx context.Context, _ string) (*reload.Content, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}), load, reload.Options{Logger: quiet})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		synctest.Wait()
		if err := c.Close(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case err := <-ended:
			if !errors.Is(err, poolswap.ErrClosed) {
				t.Errorf("Run returned %v", err)
			}
		default:
			t.Error("Run goes on")
		}
	})
}
