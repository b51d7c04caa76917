package leaderelection

import (
	"context"
	"errors"
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
// attempt before the deadline: after a request without an answer the client opens another
// connection. The caller must close it.
func NewClient(config restclient.Config, renewDeadline time.Duration) (*restclient.Client, error) {
	config.QPS = -1
	config.MaxRetries = -1
	config.Timeout = renewDeadline / 2
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
