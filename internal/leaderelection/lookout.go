package leaderelection

import (
	"context"

	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
	"orrery/restclient/api"
)

// watch keeps an eye on the Lease until the context ends or the server says that it may not be watched. What it sees is a
// hint, which may be old: it says when the holder was seen last, and that now is the time for an attempt. Attempts ask the
// server.
func (e *Elector) watch(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	machine.New(reflector.Config[*api.Lease]{
		Name:             "leader election",
		ListerWatcher:    oneLease{e.config.Watch, e.config.Name},
		Store:            lookout{e},
		DisableWatchList: true,
		WatchErrorHandler: func(_ context.Context, err error) {
			forbidden := api.IsForbidden(err)
			e.setWatching(false)
			e.config.Trace.watchFailed(err, forbidden)
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

// noticed is what the watch calls; nil: there is no Lease.
func (e *Elector) noticed(lease *api.Lease) {
	if e.note(lease) {
		e.poke()
	}
	e.reportLeader()
}

// poke has the elector look now.
func (e *Elector) poke() {
	select {
	case e.poked <- struct{}{}:
	default: // it looks anyway
	}
}

// note lets the candidate know. It tells whether there may be something to do: a leader has to hear of what it has not written
// itself, the others of everything, since their timers depend on it.
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

// oneLease is the collection that has nothing but one Lease.
type oneLease struct {
	reflector.ListerWatcher[*api.Lease]
	name string
}

func (o oneLease) List(ctx context.Context, opts api.ListOptions) (*api.List[*api.Lease], error) {
	opts.FieldSelector = "metadata.name=" + o.name
	return o.ListerWatcher.List(ctx, opts)
}

func (o oneLease) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Lease], error) {
	opts.FieldSelector = "metadata.name=" + o.name
	return o.ListerWatcher.Watch(ctx, opts)
}

// lookout is the store of the reflector: it keeps nothing.
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
