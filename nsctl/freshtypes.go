package nsctl

import (
	"context"
	"sync"
	"time"

	"orrery/restclient/api"
)

// freshTypes sees to it that a pass knows each type of which the namespace may hold something.
//
// That a discovery is younger than the deletion is not enough: within the grace period there may be servers that do not know
// of the deletion yet and let content be created, also of a type that appeared a moment before. What the discovery knows must
// be younger than the end of the grace period, by our own clock. The passes of namespaces that were settled when it began
// share it, so that a burst of deletions asks a few times; in a slow stream of them each asks for itself.
type freshTypes struct {
	discovery Discovery

	mu    sync.Mutex // guards asked
	asked time.Time  // what the discovery remembers is no older than this
}

// of returns the types as they were after the deletion, by the server's clock, and after the namespace was settled.
func (f *freshTypes) of(ctx context.Context, deletedAt, settled time.Time) ([]*api.APIResourceList, error) {
	f.mu.Lock()
	if f.asked.Before(settled) {
		asked := time.Now() // before: what somebody else has begun to ask for in between is younger than this
		f.discovery.Invalidate()
		f.asked = asked
	}
	f.mu.Unlock()
	return f.discovery.PreferredNamespacedResources(ctx, deletedAt)
}
