package fast

import (
	"context"
	"sync"
	"time"

	"orrery/nsctl"
	"orrery/restclient/api"
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
	f.refresh(settled)
	return f.discovery.PreferredNamespacedResources(ctx, deletedAt)
}

func (f *freshTypes) refresh(settled time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked.Before(settled) {
		asked := time.Now() // before Invalidate: a request that began in between is younger than this
		f.discovery.Invalidate()
		f.asked = asked
	}
}
