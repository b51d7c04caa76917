package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/leaderelection"
	"orrery/internal/observe/events"
	"orrery/restclient"
	"orrery/restclient/api"
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
	flags.BoolVar(&o.elect, "leader-elect", true, "work only while holding a Lease, so that one of several replicas works and the others stand by")
	flags.DurationVar(&o.leaseDuration, "leader-elect-lease-duration", 15*time.Second, "how long a standby waits after the last renewal before it takes over the Lease")
	flags.DurationVar(&o.renewDeadline, "leader-elect-renew-deadline", 10*time.Second, "how long the leader tries to renew its Lease before it stops working; less than the lease duration")
	flags.DurationVar(&o.retryPeriod, "leader-elect-retry-period", 2*time.Second, "how often the leader renews its Lease, and how often a standby tries to take it over")
	flags.StringVar(&o.lock, "leader-elect-resource-lock", leasesLock, "the type of the lock object; the only one is leases")
	flags.StringVar(&o.name, "leader-elect-resource-name", "orrery", "the `name` of the Lease")
	flags.StringVar(&o.namespace, "leader-elect-resource-namespace", "kube-system", "the `namespace` of the Lease")
}

// leasesLock is the one type of lock there is.
const leasesLock = "leases"

func (o *electionOptions) check() error {
	switch {
	case o.lock != leasesLock:
		return fmt.Errorf("--leader-elect-resource-lock must be %s, there is no lock %q", leasesLock, o.lock)
	case o.name == "":
		return errors.New("--leader-elect-resource-name must not be empty")
	case o.namespace == "":
		return errors.New("--leader-elect-resource-namespace must not be empty")
	case o.leaseDuration == 0, o.renewDeadline == 0, o.retryPeriod == 0:
		return errors.New("--leader-elect-lease-duration, --leader-elect-renew-deadline and --leader-elect-retry-period must be positive")
	}
	return o.timing().Check()
}

func (o *electionOptions) timing() leaderelection.Timing {
	return leaderelection.Timing{LeaseDuration: o.leaseDuration, RenewDeadline: o.renewDeadline, RetryPeriod: o.retryPeriod}
}

// electing reports whether this run takes part in an election. A dry run does not: it writes nothing.
func (o *runOptions) electing() bool { return o.election.elect && !o.dryRun }

// healthTolerance is for how long a Lease may have run out before the process counts as stuck, as in kube-controller-manager.
const healthTolerance = 20 * time.Second

// lead calls work when this process is the one that works, with a context that ends, at once, when it is not any more, and
// returns when work has returned. Before that it may wait for ever; it returns nil when ctx ends meanwhile. relieved tells
// work that somebody else of this kind was at work until now, and not only looked whether it may; atWork is for work to say
// that it is past that.
func lead(ctx context.Context, p *process, work func(alive context.Context, relieved bool, atWork func())) error {
	if !p.options.electing() {
		work(context.WithoutCancel(ctx), false, func() {})
		return nil
	}
	election := p.options.election
	config := p.client.Config()
	config.Dial = dialer.DialContext // not behind the fence: by its answers it is known who may send what
	leases, err := leaderelection.NewClient(config, election.namespace, election.renewDeadline)
	if err != nil {
		return err
	}
	defer leases.Close()
	identity := newIdentity()
	elector, err := leaderelection.New(leaderelection.Config{
		Leases:    leases,
		Reconnect: leases.Reconnect,
		Watch:     restclient.Typed[*api.Lease](p.client, api.LeasesResource, election.namespace),
		Namespace: election.namespace,
		Name:      election.name,
		Identity:  identity,
		Timing:    election.timing(),
		Fence:     p.fence,
		Trace:     leaderelection.JoinTraces(p.logger.Election(), p.electionTrace(p.manager.Recorder())),
	})
	if err != nil {
		return err
	}
	p.observer.leading(election.name, false)
	p.observer.healthy("leaderElection", func() error { return elector.Check(healthTolerance) })
	p.observer.show("election", func() any { return elector.Snapshot() })
	p.logger.Info().Str("lease", election.namespace+"/"+election.name).Str("identity", identity).Msg("waiting for leadership")
	err = elector.Run(ctx, func(alive context.Context, term leaderelection.Term) { work(alive, relieves(term), elector.AtWork) })
	if access, ok := errors.AsType[*leaderelection.AccessError](err); ok {
		return &electionError{access}
	}
	return err
}

// relieves reports whether a term follows that of a leader that really worked. A replica that finds another namespace controller
// leads until then, gives the Lease back and ends; it must not be taken for one that found none.
func relieves(term leaderelection.Term) bool { return term.Witnessed && term.Worked }

// electionTrace tells metrics and Events.
func (p *process) electionTrace(recorder events.EventRecorder) *leaderelection.Trace {
	name := p.options.election.name // metrics call an election as its Lease, as in kube-controller-manager
	return &leaderelection.Trace{
		Acquired: func(term leaderelection.Term) {
			p.observer.leading(name, true)
			lease := api.ObjectReference{Kind: "Lease", APIVersion: "coordination.k8s.io/v1", Namespace: p.options.election.namespace, Name: name}
			recorder.Event(context.Background(), lease, api.EventNormal, "LeaderElection", term.Identity+" became leader") // as client-go does
		},
		Lost:     func(error) { p.observer.leading(name, false) },
		Released: func(error) { p.observer.leading(name, false) },
		SlowPath: func() { p.observer.slowPath(name) },
	}
}

// newIdentity is the host's name, which in a pod is the pod's, and something that no other process has.
func newIdentity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "_" + newUUID()
}

// newUUID is a random identifier as of RFC 9562, version 4.
func newUUID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // it never fails
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// electionError is why this run cannot take part in the election.
type electionError struct{ access *leaderelection.AccessError }

func (e *electionError) Error() string {
	if api.IsForbidden(e.access.Err) {
		return fmt.Sprintf("%v; replicas need the right to get, create and update Leases there (\"orrery rbac\" prints all that a run needs); a single one can do without, with --leader-elect=false", e.access)
	}
	return fmt.Sprintf("%v; --leader-elect-resource-namespace names a namespace that exists", e.access)
}

func (e *electionError) Unwrap() error { return e.access }
