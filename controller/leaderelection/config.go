package leaderelection

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"orrery/informer/reflector"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Leases gives access to the Lease; a restclient.Resource of Leases in a namespace implements it.
// It must not retry, see [NewClient].
type Leases interface {
	Get(ctx context.Context, name string, opts api.GetOptions) (*api.Lease, error)
	Create(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error)
	Update(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error)
}

// NewClient returns a client for [Leases] with connections of its own: behind a thousand deletions
// a renewal would wait too long, for a connection or for the rate limit. It has the given
// configuration, but no rate limit and no retries, and a timeout that leaves room for a second
// attempt before the deadline, 0 for the default: after a request without an answer the client
// opens another connection. The caller must close it.
func NewClient(config restclient.Config, renewDeadline time.Duration) (*restclient.Client, error) {
	config.QPS = -1
	config.MaxRetries = -1
	config.Timeout = cmp.Or(renewDeadline, DefaultRenewDeadline) / 2
	config.UserAgent += "/leader-election"
	return restclient.New(config)
}

// Config configures an [Elector]. Leases, Namespace, Name and Identity are required.
type Config struct {
	// Leases reads and writes the Lease.
	Leases Leases
	// Watch, if not nil, lists and watches the Leases of the namespace. With it a standby sees a
	// release at once, and knows to a millisecond when the leader renewed. Without it, or if it is
	// forbidden, a standby polls.
	Watch reflector.ListerWatcher[*api.Lease]

	// Namespace and Name are the Lease's.
	Namespace, Name string
	// Identity distinguishes this participant from all others, including earlier processes in its
	// place: the host name and random characters.
	Identity string

	// Timing holds the durations.
	Timing Timing
	// Fence, if not nil, is closed when the lease is lost. By default only the context of the work
	// is cancelled.
	Fence *Fence
	// Trace receives events. Default: none.
	Trace *Trace
}

func (c Config) check() error {
	switch {
	case c.Leases == nil:
		return errors.New("leader election needs a way to reach its Lease")
	case c.Namespace == "":
		return &ConfigError{"--leader-elect-resource-namespace must not be empty"}
	case c.Name == "":
		return &ConfigError{"--leader-elect-resource-name must not be empty"}
	case c.Identity == "":
		return errors.New("leader election needs an identity")
	}
	return c.Timing.Check()
}

// NewIdentity returns the host name, which in a pod is the pod's name, and a random part: a UUID
// (RFC 9562, version 4).
func NewIdentity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // it never fails
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("%s_%x-%x-%x-%x-%x", host, id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

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
		return configError("--leader-elect-lease-duration (%v) must be longer than --leader-elect-renew-deadline "+
			"(%v): a leader has to stop before another one begins",
			t.LeaseDuration, t.RenewDeadline)
	case float64(t.RenewDeadline) <= jitterFactor*float64(t.RetryPeriod):
		return configError("--leader-elect-renew-deadline (%v) must be longer than 1.2 times "+
			"--leader-elect-retry-period (%v): a leader needs time for more than one attempt",
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
	}{{&t.LeaseDuration, DefaultLeaseDuration}, {&t.RenewDeadline, DefaultRenewDeadline},
		{&t.RetryPeriod, DefaultRetryPeriod}} {
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

// LostError reports that this process was the leader and lost the lease without releasing it.
type LostError struct {
	// Lease is the Lease as namespace/name.
	Lease string
	// Holder is the new holder, or "" if none was seen.
	Holder string
	// Taken: the Lease has another holder, or none. Otherwise it could not be renewed for Deadline.
	Taken    bool
	Deadline time.Duration
	// Err is why the last renewal failed, or nil if none did because the process was stopped for a
	// while.
	Err error
}

func (e *LostError) Error() string {
	switch {
	case e.Taken && e.Holder != "":
		return fmt.Sprintf("leadership was lost: the Lease %s is held by %s", e.Lease, e.Holder)
	case e.Taken:
		return fmt.Sprintf("leadership was lost: the holder was removed from the Lease %s", e.Lease)
	case e.Err != nil:
		return fmt.Sprintf("leadership was lost: the Lease %s could not be renewed for %v: %v", e.Lease,
			e.Deadline, e.Err)
	}
	return fmt.Sprintf("leadership was lost: the Lease %s was not renewed for %v, this process was stopped "+
		"or had no time", e.Lease, e.Deadline)
}

// Unwrap returns Err.
func (e *LostError) Unwrap() error { return e.Err }

// IsLost reports whether err comes from the end of this process's leadership: a [*LostError], or
// [ErrFenced] from a request in flight.
func IsLost(err error) bool {
	_, lost := errors.AsType[*LostError](err)
	return lost || errors.Is(err, ErrFenced)
}

// AccessError reports that this user cannot take part in the election: from the start, the server
// has refused several attempts in a row.
type AccessError struct {
	// Verb is the refused verb: get, create or update.
	Verb string
	// Namespace and Name are the Lease's.
	Namespace, Name string
	// Err is the server's answer.
	Err error
}

func (e *AccessError) Error() string {
	return fmt.Sprintf("leader election cannot %s the Lease %s/%s: %v", e.Verb, e.Namespace, e.Name, e.Err)
}

// Unwrap returns Err.
func (e *AccessError) Unwrap() error { return e.Err }
