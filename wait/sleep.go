package wait

import (
	"context"
	"time"
)

// Sleep waits for d, or less if ctx ends: then it returns ctx.Err(). A d of 0 or less waits for nothing, but still says
// whether ctx has ended. It is time.Sleep for code that has to stop when it is told to.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
