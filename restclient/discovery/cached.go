package discovery

import (
	"context"
	"sync"
	"time"

	"orrery/restclient/api"
	"orrery/restclient/internal/flight"
)

// Cached caches the preferred namespaced resources of a server, under a rule that is safe for
// deletion: an answer is reused only if it certainly describes the server at the caller's moment or
// later. Create it with [NewCached].
//
// To delete the content of a namespace, a controller must know every type of which the namespace
// may have objects. Nothing can be created in a namespace marked for deletion, so a snapshot taken
// after that moment is sufficient. (With several API servers, some learn of the mark later: a
// controller that allows for that calls [Cached.Invalidate] afterwards.)
//
// The mark (metadata.deletionTimestamp) is by the server's clock, which may differ from ours by
// minutes. So snapshots are dated by the server's clock too: the Date header of the answer, less
// the duration of the exchange. The answer is reused if that moment is at least two seconds after
// the caller's, which covers the whole seconds of API timestamps, the delay until a server
// publishes a new type, and small differences between the clocks of several API servers. Clocks may
// differ by more, and they jump: an answer is dropped when it is ten seconds old by our own clock.
// The cache is for bursts (a hundred namespaces deleted at once), for which seconds are enough.
//
// An answer to the caller's own request is always valid. If the server sends no Date, a caller with
// a moment gets only such an answer, possibly shared with concurrent callers. An incomplete answer
// is returned with its error to the callers that waited for it, and is never cached. Neither are
// answers to requests sent before [Cached.Invalidate].
type Cached struct {
	client *Client // immutable
	flight *flight.Flight[*snapshot]

	mu    sync.Mutex
	kept  *snapshot // may be nil; immutable
	epoch int       // number of Invalidate calls
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
	epoch   int       // at the time of the request
}

// NewCached returns a new, empty cache for the client.
func NewCached(client *Client) *Cached {
	c := &Cached{client: client}
	c.flight = flight.New(c.fetch)
	return c
}

// PreferredNamespacedResources returns the result of [Client.ServerPreferredNamespacedResources],
// in a snapshot taken at notOlderThan (by the server's clock) or later. Zero accepts any cached
// snapshot. The result is shared and must not be changed. Concurrent callers share requests; each
// waits until its context ends.
func (c *Cached) PreferredNamespacedResources(ctx context.Context,
	notOlderThan time.Time) ([]*api.APIResourceList, error) {
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
		// That run had started before the call. The next one has not.
		taken, _, err = c.flight.Do(ctx)
	}
	if err != nil {
		return nil, err
	}
	return taken.lists, taken.failure
}

// Invalidate drops the cached snapshot. Call it when a request has shown that it is outdated: a
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
	taken := &snapshot{lists: found.preferred(namespaced), asked: asked, asOf: found.asOf, failure: found.failure(),
		epoch: epoch}
	c.keep(taken)
	return taken, nil
}

func (c *Cached) keep(taken *snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case taken.epoch < c.epoch:
	case taken.failure != nil:
		c.kept = nil // the cached answer is no longer complete
	default:
		c.kept = taken
	}
}
