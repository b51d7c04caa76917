package discovery

import (
	"context"
	"sync"
	"time"

	"orrery/restclient/api"
	"orrery/restclient/internal/flight"
)

// Cached remembers the preferred namespaced resources of a server, under a rule that is safe for deleting: an answer is used
// again only if it certainly describes the server at the moment that the caller names or later. Create it with [NewCached].
//
// # The rule
//
// To delete the content of a namespace, a controller must know every type of which the namespace may hold objects. Nothing can
// be created in a namespace once it is marked as being deleted, so a snapshot of the server that was taken after that moment is
// enough. (With several API servers, some learn of the mark later: a controller that gives them time for that calls
// [Cached.Invalidate] when the time is over.)
//
// The mark (metadata.deletionTimestamp) was made by the server's clock, and our own clock may differ from that by minutes. So
// snapshots are dated by the server's clock too: the Date header of the answer, less the time that the exchange took, is a moment
// before the snapshot was taken. The answer is used again if that moment is at least two seconds after the one that the caller
// names. This margin covers that API timestamps have whole seconds, that a server publishes a new type a moment after it serves
// it, and small differences between the clocks of several API servers.
//
// Clocks of several servers may differ by more, and clocks jump. Therefore an answer is dropped when it is ten seconds old by our
// own clock, however young it seems. The cache is there for bursts (a hundred namespaces deleted at once), for which seconds are
// enough.
//
// An answer to the caller's own request is always good enough: the caller knew of the deletion when it asked. If the server sends
// no Date, a caller that names a moment gets no other, except one that is shared with callers that ask at the same time.
//
// An incomplete answer goes to the callers that asked for it, beside its error, and is never kept. Neither are answers to
// requests that were sent before [Cached.Invalidate] was called.
type Cached struct {
	client *Client // immutable
	flight *flight.Flight[*snapshot]

	mu    sync.Mutex
	kept  *snapshot // nil: nothing; what it points to is immutable
	epoch int       // how often Invalidate was called
}

const (
	margin = 2 * time.Second
	maxAge = 10 * time.Second
)

// snapshot is an answer of the server.
type snapshot struct {
	lists   []*api.APIResourceList
	asked   time.Time // by our clock
	asOf    time.Time // by the server's clock; zero: not known
	failure error     // groups are missing
	epoch   int       // that of the moment when it was asked for
}

// NewCached returns an empty cache before the client.
func NewCached(client *Client) *Cached {
	c := &Cached{client: client}
	c.flight = flight.New(c.fetch)
	return c
}

// PreferredNamespacedResources returns what [Client.ServerPreferredNamespacedResources] does, in a snapshot of the server
// that was taken at notOlderThan (by the server's clock) or later. Zero means that whatever is kept will do. The result
// is shared and must not be changed. Callers that ask at the same time share the requests, and each waits no longer than
// its context lives.
func (c *Cached) PreferredNamespacedResources(ctx context.Context, notOlderThan time.Time) ([]*api.APIResourceList, error) {
	c.mu.Lock()
	epoch := c.epoch
	kept := c.kept
	if kept.isFresh(notOlderThan) {
		c.mu.Unlock()
		return kept.lists, nil
	}
	c.mu.Unlock()

	taken, joined, err := c.flight.Do(ctx)
	if err == nil && joined && (taken.epoch < epoch || taken.failure != nil || !taken.isFresh(notOlderThan)) {
		// That run was under way before we asked. The next one is not.
		taken, _, err = c.flight.Do(ctx)
	}
	if err != nil {
		return nil, err
	}
	return taken.lists, taken.failure
}

// Invalidate makes the next caller ask the server. Call it when a request has shown that the snapshot is outdated: a
// resource that should exist answers 404.
func (c *Cached) Invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	c.kept = nil
}

// isFresh is the rule.
func (s *snapshot) isFresh(notOlderThan time.Time) bool {
	switch {
	case s == nil || time.Since(s.asked) >= maxAge:
		return false
	case notOlderThan.IsZero():
		return true
	case s.asOf.IsZero():
		return false
	default:
		return !s.asOf.Before(notOlderThan.Add(margin))
	}
}

// fetch is the run that callers share.
func (c *Cached) fetch(ctx context.Context) (*snapshot, error) {
	c.mu.Lock()
	epoch := c.epoch
	c.mu.Unlock()

	asked := time.Now()
	found, err := c.client.discover(ctx)
	if err != nil {
		return nil, err
	}
	taken := &snapshot{lists: found.preferred(namespaced), asked: asked, asOf: found.asOf, failure: found.failure(), epoch: epoch}
	c.keep(taken)
	return taken, nil
}

func (c *Cached) keep(taken *snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case taken.epoch < c.epoch:
	case taken.failure != nil:
		c.kept = nil // what was complete once is so no more
	default:
		c.kept = taken
	}
}
