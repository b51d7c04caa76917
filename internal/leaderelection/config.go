package leaderelection

import (
	"context"
	"errors"

	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// Leases is how an elector reaches its Lease; a restclient.Resource of Leases in a namespace is one. It must not repeat
// attempts by itself, and should have connections of its own: behind a thousand deletions a renewal would wait too long.
type Leases interface {
	Get(ctx context.Context, name string, opts api.GetOptions) (*api.Lease, error)
	Create(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error)
	Update(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error)
}

// Config is what an [Elector] needs. Leases, Namespace, Name and Identity are required.
type Config struct {
	// Leases is how the Lease is read and written.
	Leases Leases
	// Reconnect, if not nil, is called after an attempt that was not answered. The connection may be half-open, and a
	// leader has no time to find out: the next request should use another one.
	Reconnect func()
	// Watch, if not nil, lists and watches the Leases of the namespace. With it those who stand by hear of a release at once,
	// and know to a millisecond when the leader was seen last; without it, or if it is forbidden, they ask now and then.
	Watch reflector.ListerWatcher[*api.Lease]

	// Namespace and Name are those of the Lease.
	Namespace, Name string
	// Identity tells this participant from all others, also from one that ran in its place before: the host's name and
	// something random.
	Identity string

	// Timing are the durations.
	Timing Timing
	// Fence, if not nil, is closed when the lease is lost. Default: the work's context is all that ends.
	Fence *Fence
	// Trace is told what happens. Default: nobody.
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
