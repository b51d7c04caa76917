package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"orrery/controller/events"
	"orrery/controller/leaderelection"
	"orrery/restclient"
	"orrery/restclient/api"
)

// electionOptions are the flags of leader election, with kube-controller-manager's names, meanings
// and defaults. Only the Lease has another name: kube-controller-manager holds its own even when
// its namespace controller is off.
type electionOptions struct {
	elect         bool
	leaseDuration time.Duration
	renewDeadline time.Duration
	retryPeriod   time.Duration
	leaseOptions
}

// leaseOptions are the flags that name the Lease.
type leaseOptions struct{ namespace, name string }

func (o *leaseOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.name, "leader-elect-resource-name", "orrery", "the `name` of the Lease")
	flags.StringVar(&o.namespace, "leader-elect-resource-namespace", "kube-system", "the `namespace` of the Lease")
}

func (o *leaseOptions) check() error {
	switch {
	case o.name == "":
		return errors.New("--leader-elect-resource-name must not be empty")
	case o.namespace == "":
		return errors.New("--leader-elect-resource-namespace must not be empty")
	}
	return nil
}

func (o *electionOptions) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&o.elect, "leader-elect", true,
		"work only while holding a Lease, so that one of several replicas works and the others stand by")
	flags.DurationVar(&o.leaseDuration, "leader-elect-lease-duration", leaderelection.DefaultLeaseDuration,
		"how long a standby waits after the last renewal before it takes over the Lease")
	flags.DurationVar(&o.renewDeadline, "leader-elect-renew-deadline", leaderelection.DefaultRenewDeadline,
		"how long the leader tries to renew its Lease before it stops working; less than the lease duration")
	flags.DurationVar(&o.retryPeriod, "leader-elect-retry-period", leaderelection.DefaultRetryPeriod,
		"how often the leader renews its Lease, and how often a standby tries to take it over")
	o.leaseOptions.addTo(flags)
}

func (o *electionOptions) check() error {
	if o.leaseDuration == 0 || o.renewDeadline == 0 || o.retryPeriod == 0 {
		return errors.New("--leader-elect-lease-duration, --leader-elect-renew-deadline and " +
			"--leader-elect-retry-period must be positive")
	}
	return cmp.Or(o.leaseOptions.check(), o.timing().Check())
}

func (o *electionOptions) timing() leaderelection.Timing {
	return leaderelection.Timing{LeaseDuration: o.leaseDuration, RenewDeadline: o.renewDeadline,
		RetryPeriod: o.retryPeriod}
}

// electing reports whether this run takes part in an election. A dry run does not, because it
// writes nothing.
func (o *runOptions) electing() bool { return o.election.elect && !o.dryRun }

// healthTolerance is how long after the end of its Lease a leader counts as stuck, as in
// kube-controller-manager.
const healthTolerance = 20 * time.Second

// lead waits until this process leads, calls work, and returns when work has returned. It returns
// nil if ctx ends before. alive ends when this process is no longer the leader.
func lead(ctx context.Context, p *process, work func(alive context.Context)) error {
	if !p.options.electing() {
		if !p.options.dryRun { // without an election this replica works; alerts count working replicas
			p.observer.metrics.Leading(p.options.election.name, true)
			defer p.observer.metrics.Leading(p.options.election.name, false)
		}
		work(context.WithoutCancel(ctx))
		return nil
	}
	election := p.options.election
	config := p.client.Config()
	config.Dial = nil // not behind the fence, which depends on its answers
	client, err := leaderelection.NewClient(config, election.renewDeadline)
	if err != nil {
		return err
	}
	defer client.Close()
	identity := leaderelection.NewIdentity()
	elector, err := leaderelection.New(leaderelection.Config{
		Leases:    restclient.Typed[*api.Lease](client, api.LeasesResource, election.namespace),
		Namespace: election.namespace,
		Name:      election.name,
		Identity:  identity,
		Timing:    election.timing(),
		Fence:     p.fence,
		Trace: leaderelection.JoinTraces(p.logger.Election(), p.electionTrace(p.manager.Recorder()),
			p.recorder.Election()),
	})
	if err != nil {
		return err
	}
	p.observer.metrics.Leading(election.name, false)
	if server := p.observer.server; server != nil {
		server.Live("leaderElection", func() error { return elector.Check(healthTolerance) })
		server.Show("election", func() any { return elector.Snapshot() })
	}
	p.logger.Info().Str("lease", election.namespace+"/"+election.name).Str("identity", identity).
		Msg("waiting for leadership")
	err = elector.Run(ctx, work)
	access, ok := errors.AsType[*leaderelection.AccessError](err)
	switch {
	case !ok:
		return err
	case api.IsForbidden(access.Err):
		return fmt.Errorf("%w; replicas need the right to get, create and update Leases there (\"orrery rbac\" prints "+
			"all that a run needs); a single replica needs none with --leader-elect=false", access)
	}
	return fmt.Errorf("%w; --leader-elect-resource-namespace names a namespace that exists", access)
}

// electionTrace returns hooks for metrics and Events.
func (p *process) electionTrace(recorder events.EventRecorder) *leaderelection.Trace {
	name := p.options.election.name // an election is labelled with its Lease, as in kube-controller-manager
	return &leaderelection.Trace{
		Acquired: func(term leaderelection.Term) {
			p.observer.metrics.Leading(name, true)
			lease := api.ObjectReference{Kind: "Lease", APIVersion: "coordination.k8s.io/v1",
				Namespace: p.options.election.namespace, Name: name}
			recorder.Event(context.Background(), lease, api.EventNormal, "LeaderElection",
				term.Identity+" became leader") // as client-go does
		},
		Lost:     func(error) { p.observer.metrics.Leading(name, false) },
		Released: func(error) { p.observer.metrics.Leading(name, false) },
	}
}
