package driver

import (
	"context"
	"sync"
	"time"

	"orrery/wait"
)

// pingPeriod is the time between two pings of a driver.
const pingPeriod = 30 * time.Second

// Health knows whether a driver works, so that a missing engine is reported before a machine fails.
type Health struct {
	Driver Interface
	// Changed is called when the driver stops working, because of err, or works again if err is
	// nil. May be nil.
	Changed func(err error)

	mu     sync.Mutex // guards broken
	broken error      // of the last ping
}

// Run pings the driver at once and every half minute, until ctx ends.
func (h *Health) Run(ctx context.Context) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		err := h.Driver.Ping(ctx)
		if ctx.Err() != nil {
			return
		}
		h.mu.Lock()
		news := (err == nil) != (h.broken == nil)
		h.broken = err
		h.mu.Unlock()
		if news && h.Changed != nil {
			h.Changed(err)
		}
	}, pingPeriod)
}

// Err returns the error of the last ping, nil if the driver works.
func (h *Health) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.broken
}
