package fast

import (
	"context"
	"sync"
	"time"

	"orrery/nsctl"
	"orrery/restclient/api"
	"orrery/wait"
)

// freshTypes makes sure that a pass knows every type of which the namespace may hold objects.
//
// It is not enough that a discovery is younger than the deletion: within the grace period some
// servers do not know of the deletion yet and let content be created, also of a type that appeared
// a moment before. A discovery must have begun after the grace period ended, by our own clock.
// Namespaces that had settled when it began share it, so a burst of deletions asks a few times; in
// a slow stream of them each asks for itself.
type freshTypes struct {
	discovery nsctl.Discovery

	mu    sync.Mutex
	asked time.Time // what the discovery remembers is no older than this
}

// of returns the types as they were after the deletion, by the server's clock, and after the
// namespace had settled.
func (f *freshTypes) of(ctx context.Context, deletedAt, settled time.Time) ([]*api.APIResourceList, error) {
	f.mu.Lock()
	if f.asked.Before(settled) {
		asked := time.Now() // before Invalidate: a request that began in between is younger than this
		f.discovery.Invalidate()
		f.asked = asked
	}
	f.mu.Unlock()
	return f.discovery.PreferredNamespacedResources(ctx, deletedAt)
}

// prefetch is a discovery that runs while the namespace is still being read: neither needs the
// other, and the server may be far away.
type prefetch struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when lists and err are set
	lists  []*api.APIResourceList
	err    error
}

// prefetch asks for the types if the time of the deletion is known: the answer must not be older.
// It returns nil otherwise. The caller must call end.
func (d *deleter) prefetch(ctx context.Context, seen nsctl.ObservedDeletion) *prefetch {
	if seen.DeletedAt.IsZero() {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &prefetch{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		defer func() {
			if value := recover(); value != nil {
				f.err = wait.NewPanic(value)
			}
		}()
		f.lists, f.err = d.types.of(ctx, seen.DeletedAt, seen.Settled)
	}()
	return f
}

// answer blocks until the discovery has ended.
func (f *prefetch) answer() ([]*api.APIResourceList, error) {
	if f == nil {
		return nil, nil
	}
	<-f.done
	return f.lists, f.err
}

// end cancels the discovery and blocks until its goroutine has ended.
func (f *prefetch) end() {
	if f == nil {
		return
	}
	f.cancel()
	<-f.done
}
