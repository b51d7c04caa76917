package leaderelection

import (
	"fmt"
	"time"
)

// Timing are the three durations of an election. A zero value means the default.
type Timing struct {
	// LeaseDuration is how long the others leave a leader alone that they do not see renewing. Default 15 s. It is written
	// into the Lease in whole seconds, rounded up.
	LeaseDuration time.Duration
	// RenewDeadline is how long a leader goes on working after the last renewal that went well was sent. Default 10 s.
	//
	// What it is shorter than LeaseDuration by is the margin for clocks of which one runs faster than the other, and for
	// requests that are still on their way when the leader stops.
	RenewDeadline time.Duration
	// RetryPeriod is how often the leader renews. The others try after it, and up to 1.2 times as long again, so that they
	// do not knock together. Default 2 s.
	RetryPeriod time.Duration
}

// The defaults are kube-controller-manager's.
const (
	DefaultLeaseDuration = 15 * time.Second
	DefaultRenewDeadline = 10 * time.Second
	DefaultRetryPeriod   = 2 * time.Second
)

// jitterFactor stretches the pauses of those who stand by.
const jitterFactor = 1.2

// ConfigError says what is wrong with a [Config], in the words of the flags that set it.
type ConfigError struct{ Problem string }

func (e *ConfigError) Error() string { return e.Problem }

// Check returns a [*ConfigError] for durations with which two could lead at the same time, or nobody for long: the lease must
// outlast the deadline, and the deadline more than one pause.
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

// longestLease keeps the seconds inside 32 bits, with room to add them to anything.
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

// leaseSeconds is the lease duration as others are told. Rounding down, as client-go does, would let them begin before a
// leader with a deadline in between has ended.
func (t Timing) leaseSeconds() int32 {
	return int32((t.LeaseDuration + time.Second - 1) / time.Second)
}
