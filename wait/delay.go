package wait

import (
	"context"
	"sync"
	"time"
)

// DelayFunc returns the time to wait next. Each call moves the sequence on.
// Unless its maker says otherwise it is for one goroutine.
type DelayFunc func() time.Duration

// Concurrent returns the same sequence for use by several goroutines, which
// then share it: a delay goes to one of them.
func (fn DelayFunc) Concurrent() DelayFunc {
	var mu sync.Mutex
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return fn()
	}
}

// Until asks condition until it returns true or an error, or until ctx ends,
// and waits between the calls as fn says. It returns nil, the condition's
// error, or ctx.Err().
//
// With immediate the condition is asked before the first wait, even if ctx has
// ended already. With sliding a wait begins when the condition has returned,
// without it when the condition is called.
func (fn DelayFunc) Until(ctx context.Context, immediate, sliding bool, condition ConditionWithContextFunc) error {
	t := timer{delay: fn}
	defer t.Stop()
	if !sliding || !immediate {
		t.Arm()
	}
	if immediate {
		if done, err := check(ctx, condition); done || err != nil {
			return err
		}
		if sliding {
			t.Arm()
		}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C():
		}
		// Both may have been ready; see BackoffUntilWithContext.
		if err := ctx.Err(); err != nil {
			return err
		}
		if !sliding {
			t.Arm()
		}
		if done, err := check(ctx, condition); done || err != nil {
			return err
		}
		if sliding {
			t.Arm()
		}
	}
}
