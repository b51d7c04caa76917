package leaderelection

import (
	"fmt"
	"time"
)

// Timing holds the three durations of an election. A zero value means the default.
type Timing struct {
	// LeaseDuration is how long a standby waits after the last renewal it saw. Default 15 s. It is
	// written to the Lease in whole seconds, rounded up.
	LeaseDuration time.Duration
	// RenewDeadline is how long a leader works after sending its last successful renewal. Default
	// 10 s.
	//
	// The difference to LeaseDuration is the margin for clocks that run at different rates, and for
	// requests still in flight when the leader stops.
	RenewDeadline time.Duration
	// RetryPeriod is the interval of the leader's renewals. Standbys retry after 1 to 2.2 times
	// that period, so that they do not collide. Default 2 s.
	RetryPeriod time.Duration
}

// The defaults are kube-controller-manager's.
const (
	DefaultLeaseDuration = 15 * time.Second
	DefaultRenewDeadline = 10 * time.Second
	DefaultRetryPeriod   = 2 * time.Second
)

// jitterFactor stretches the pauses of standbys.
const jitterFactor = 1.2

// ConfigError reports an invalid [Config], in terms of the flags that set it.
type ConfigError struct{ Problem string }

func (e *ConfigError) Error() string { return e.Problem }

// Check returns a [*ConfigError] for durations with which two replicas could lead at the same time,
// or none for long: the lease must outlast the deadline, and the deadline more than one pause.
func (t Timing) Check() error {
	t = t.withDefaults()
	switch {
	case t.LeaseDuration < 0:
		return configError("--leader-elect-lease-duration must be positive, it is %v", t.LeaseDuration)
	case t.RenewDeadline < 0:
		return configError("--leader-elect-renew-deadline must be positive, it is %v", t.RenewDeadline)
	case t.RetryPeriod < 0:
		return configError("--leader-elect-retry-period must be positive, it is %v", t.RetryPeriod)
	case t.LeaseDuration > longestLease:
		return configError("--leader-elect-lease-duration must be at most %v, it is %v", longestLease, t.LeaseDuration)
	case t.LeaseDuration <= t.RenewDeadline:
		return configError("--leader-elect-lease-duration (%v) must be longer than --leader-elect-renew-deadline (%v): a leader has to stop before another one begins",
			t.LeaseDuration, t.RenewDeadline)
	case float64(t.RenewDeadline) <= jitterFactor*float64(t.RetryPeriod):
		return configError("--leader-elect-renew-deadline (%v) must be longer than 1.2 times --leader-elect-retry-period (%v): a leader needs time for more than one attempt",
			t.RenewDeadline, t.RetryPeriod)
	}
	return nil
}

// longestLease keeps sums of lease durations, in seconds, within 32 bits.
const longestLease = 365 * 24 * time.Hour

func configError(format string, args ...any) error {
	return &ConfigError{Problem: fmt.Sprintf(format, args...)}
}

func (t Timing) withDefaults() Timing {
	for _, duration := range []struct {
		field *time.Duration
		value time.Duration
	}{{&t.LeaseDuration, DefaultLeaseDuration}, {&t.RenewDeadline, DefaultRenewDeadline}, {&t.RetryPeriod, DefaultRetryPeriod}} {
		if *duration.field == 0 {
			*duration.field = duration.value
		}
	}
	return t
}

// leaseSeconds returns the lease duration as written to the Lease. Rounding down, as client-go
// does, would let a standby begin before a leader with a fractional deadline has ended.
func (t Timing) leaseSeconds() int32 {
	return int32((t.LeaseDuration + time.Second - 1) / time.Second)
}

// clock counts the time since its creation, unaffected by changes of the time of day. On Linux it
// stands still while the machine is suspended.
type clock struct{ began time.Time }

func newClock() *clock { return &clock{began: time.Now()} }

func (c *clock) now() time.Duration { return time.Since(c.began) }

func (c *clock) moment() moment { return moment{local: c.now(), wall: time.Now()} }
