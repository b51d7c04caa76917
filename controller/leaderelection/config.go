package leaderelection

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"orrery/internal/hooks"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Leases gives access to the Lease; a restclient.Resource of Leases in a namespace implements it.
// It must not retry, see [NewClient]. Without the right to watch, a standby polls.
type Leases interface {
	Get(ctx context.Context, name string, opts api.GetOptions) (*api.Lease, error)
	Create(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error)
	Update(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error)
	Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Lease], error)
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
	// Leases reads, writes and watches the Lease.
	Leases Leases
	// Namespace and Name are the Lease's.
	Namespace, Name string
	// Identity distinguishes this participant from all others, including earlier processes in its
	// place, see [NewIdentity].
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
	if c.Leases == nil || c.Namespace == "" || c.Name == "" || c.Identity == "" {
		return errors.New("leader election needs access to Leases, the namespace and the name of one, and an identity")
	}
	return c.Timing.Check()
}

// NewIdentity returns the host name, which in a pod is the pod's name, and a random part.
func NewIdentity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "_" + rand.Text()
}

// Trace is a set of hooks, in the manner of httptrace.ClientTrace. Any of them may be nil, and so
// may the pointer. They are called on the goroutine of [Elector.Run], and must not block, because a
// renewal would wait for them.
type Trace struct {
	// Acquired: this process leads.
	Acquired func(Term)
	// Renewed: the Lease was renewed; took is the duration of the attempt.
	Renewed func(took time.Duration)
	// Failed: an attempt failed, as a leader or a standby. It is retried.
	Failed func(err error, leading bool)
	// Lost: this process lost the leadership against its will. err is a [*LostError].
	Lost func(err error)
	// Released: the Lease was released; if err is not nil, that failed, and the others wait until
	// it expires.
	Released func(err error)
	// NewLeader: another replica holds the Lease. silent is the time since its last renewal, by
	// renewTime and the clock of this machine, or 0 if it renews in time.
	NewLeader func(identity string, silent time.Duration)
}

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments.
// Arguments may be nil; the result is nil if all are, and the argument itself if there is only one.
func JoinTraces(traces ...*Trace) *Trace {
	return hooks.Join(traces...)
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

// longestLease keeps sums of lease durations, in seconds, within 32 bits.
const longestLease = 365 * 24 * time.Hour

// Check returns an error, in terms of the flags, for durations with which two replicas could lead
// at the same time, or none for long: the lease must outlast the deadline, and the deadline more
// than one pause.
func (t Timing) Check() error {
	t = t.withDefaults()
	switch {
	case min(t.LeaseDuration, t.RenewDeadline, t.RetryPeriod) < 0:
		return errors.New("--leader-elect-lease-duration, --leader-elect-renew-deadline and " +
			"--leader-elect-retry-period must be positive")
	case t.LeaseDuration > longestLease:
		return fmt.Errorf("--leader-elect-lease-duration must be at most %v, it is %v", longestLease, t.LeaseDuration)
	case t.LeaseDuration <= t.RenewDeadline:
		return fmt.Errorf("--leader-elect-lease-duration (%v) must be longer than --leader-elect-renew-deadline "+
			"(%v): a leader has to stop before another one begins",
			t.LeaseDuration, t.RenewDeadline)
	case float64(t.RenewDeadline) <= jitterFactor*float64(t.RetryPeriod):
		return fmt.Errorf("--leader-elect-renew-deadline (%v) must be longer than 1.2 times "+
			"--leader-elect-retry-period (%v): a leader needs time for more than one attempt",
			t.RenewDeadline, t.RetryPeriod)
	}
	return nil
}

func (t Timing) withDefaults() Timing {
	t.LeaseDuration = cmp.Or(t.LeaseDuration, DefaultLeaseDuration)
	t.RenewDeadline = cmp.Or(t.RenewDeadline, DefaultRenewDeadline)
	t.RetryPeriod = cmp.Or(t.RetryPeriod, DefaultRetryPeriod)
	return t
}

// leaseSeconds returns the lease duration as written to the Lease. Rounding down, as client-go
// does, would let a standby begin before a leader with a fractional deadline has ended.
func (t Timing) leaseSeconds() int32 {
	return int32((t.LeaseDuration + time.Second - 1) / time.Second)
}

// LostError reports that this process was the leader and lost the lease without releasing it.
type LostError struct {
	// Lease is the Lease as namespace/name.
	Lease string
	// Taken: the Lease has another holder, or none. Otherwise it could not be renewed for Deadline.
	Taken bool
	// Holder is the new holder, or "" if none was seen.
	Holder   string
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

// AccessError reports that this user cannot take part in the election: the server has refused
// several attempts in a row, and never allowed the request.
type AccessError struct {
	// Verb is the refused verb: get, create or update.
	Verb string
	// Lease is the Lease as namespace/name.
	Lease string
	// Err is the server's answer.
	Err error
}

func (e *AccessError) Error() string {
	return fmt.Sprintf("leader election cannot %s the Lease %s: %v", e.Verb, e.Lease, e.Err)
}

// Unwrap returns Err.
func (e *AccessError) Unwrap() error { return e.Err }
