package leaderelection

import (
	"context"
	"sync/atomic"

	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
	"orrery/restclient/api"
)

// watch watches the Lease until the context ends or the server keeps forbidding it. Its events are
// hints and may be stale: they show when the holder was last seen, and trigger attempts, which ask
// the server.
func (e *Elector) watch(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	source := &oneLease{ListerWatcher: e.config.Watch, name: e.config.Name}
	machine.New(reflector.Config[*api.Lease]{
		Name:             "leader election",
		ListerWatcher:    source,
		Store:            lookout{e},
		DisableWatchList: true,
		WatchErrorHandler: func(_ context.Context, err error) {
			forbidden := source.keepsRefusing(err)
			e.setWatching(false)
			e.config.Trace.WatchFailed(err, forbidden)
			if forbidden {
				stop()
			}
		},
	}).Run(ctx)
}

func (e *Elector) setWatching(yes bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watching = yes
}

// noticed handles an event of the watch; nil means that there is no Lease.
func (e *Elector) noticed(lease *api.Lease) {
	if e.note(lease) {
		e.poke()
	}
	e.reportLeader()
}

// poke triggers an attempt.
func (e *Elector) poke() {
	select {
	case e.poked <- struct{}{}:
	default: // an attempt is due already
	}
}

// note passes the Lease to the candidate and reports whether an attempt may be needed. A leader
// needs one only after a write of another client, a standby after every change, because its timer
// depends on it.
func (e *Elector) note(lease *api.Lease) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watching = true
	c := &e.candidate
	if c.leading {
		return lease == nil || lease.Spec.HolderIdentity != c.identity
	}
	if lease == nil {
		c.lease = nil
	} else {
		c.observe(lease, e.clock.moment())
	}
	return true
}

// oneLease is the collection that contains only one Lease.
type oneLease struct {
	reflector.ListerWatcher[*api.Lease]
	name     string
	refusals atomic.Int32 // in a row
}

func (o *oneLease) List(ctx context.Context, opts api.ListOptions) (*api.List[*api.Lease], error) {
	opts.FieldSelector = "metadata.name=" + o.name
	return o.ListerWatcher.List(ctx, opts)
}

func (o *oneLease) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Lease], error) {
	opts.FieldSelector = "metadata.name=" + o.name
	watcher, err := o.ListerWatcher.Watch(ctx, opts)
	if err == nil {
		o.refusals.Store(0)
	}
	return watcher, err
}

// keepsRefusing counts a failure, and reports whether the server has refused often enough.
func (o *oneLease) keepsRefusing(err error) bool {
	if !api.IsForbidden(err) {
		o.refusals.Store(0)
		return false
	}
	return o.refusals.Add(1) == mostRefusals
}

// lookout is the reflector's store. It keeps no objects.
type lookout struct{ elector *Elector }

func (l lookout) Add(lease *api.Lease) error    { l.elector.noticed(lease); return nil }
func (l lookout) Update(lease *api.Lease) error { l.elector.noticed(lease); return nil }
func (l lookout) Delete(*api.Lease) error       { l.elector.noticed(nil); return nil }
func (l lookout) Resync() error                 { return nil }

func (l lookout) Replace(leases []*api.Lease, _ string) error {
	if len(leases) == 0 {
		l.elector.noticed(nil)
		return nil
	}
	l.elector.noticed(leases[0])
	return nil
}
