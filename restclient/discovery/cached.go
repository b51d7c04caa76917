package discovery

import (
	"context"
	"errors"
	"sync"
	"time"

	"orrery/restclient/api"
)

// Cached caches the preferred namespaced resources of a server, under a rule that is safe for
// deletion: an answer is reused only if it certainly describes the server at the caller's moment or
// later. Create it with [NewCached].
//
// To delete the content of a namespace, a controller must know every type of which the namespace
// may have objects. Nothing can be created in a namespace marked for deletion, so a snapshot taken
// after that moment is sufficient.
//
// The mark (metadata.deletionTimestamp) is by the server's clock, which may differ from ours by
// minutes. So snapshots are dated by the server's clock too: the Date header of the answer, less
// the duration of the exchange. The answer is reused if that moment is at least two seconds after
// the caller's, which covers the whole seconds of API timestamps, the delay until a server
// publishes a new type, and small differences between the clocks of several API servers. Clocks may
// differ by more, and they jump: an answer is dropped when it is ten seconds old by our own clock.
//
// An answer that was requested after a call is valid for that call, also an incomplete one or an
// error. An incomplete answer is not reused for later calls, nor is one that was requested before
// [Cached.Invalidate].
type Cached struct {
	client *Client // immutable

	mu      sync.Mutex
	asking  chan struct{} // closed when the caller that asks the server has an answer; nil: none asks
	last    *snapshot     // may be nil; immutable
	started int           // number of snapshots begun
	oldest  int           // the number of the oldest snapshot that may be reused
}

const (
	margin = 2 * time.Second
	maxAge = 10 * time.Second
)

// snapshot is an answer of the server.
type snapshot struct {
	number  int // in the order of the requests, from 1
	lists   []*api.APIResourceList
	asked   time.Time // by our clock
	asOf    time.Time // by the server's clock; zero: not known
	failure error     // groups are missing, or everything is
}

// NewCached returns a new, empty cache for the client.
func NewCached(client *Client) *Cached { return &Cached{client: client} }

// PreferredNamespacedResources returns the result of [Client.ServerPreferredNamespacedResources],
// in a snapshot taken at notOlderThan (by the server's clock) or later. Zero accepts any cached
// snapshot. The result is shared and must not be changed. One caller at a time asks the server; the
// others wait for it, each until its context ends.
func (c *Cached) PreferredNamespacedResources(ctx context.Context,
	notOlderThan time.Time) ([]*api.APIResourceList, error) {
	c.mu.Lock()
	called := c.started
	for {
		if known := c.usableLocked(called, notOlderThan); known != nil {
			c.mu.Unlock()
			return known.lists, known.failure
		}
		if c.asking == nil {
			break
		}
		asking := c.asking
		c.mu.Unlock()
		select {
		case <-asking:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		c.mu.Lock()
	}
	c.asking = make(chan struct{})
	c.started++
	taken := &snapshot{number: c.started, asked: time.Now()}
	c.mu.Unlock()
	c.fetch(ctx, taken)
	return taken.lists, taken.failure
}

// Invalidate drops the cached snapshot. Call it when a request has shown that it is outdated: a
// resource that should exist answers 404.
func (c *Cached) Invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.oldest = c.started + 1
}

// usableLocked returns the last snapshot if it was begun after that many others, or can be reused.
func (c *Cached) usableLocked(after int, notOlderThan time.Time) *snapshot {
	if s := c.last; s != nil && (s.number > after || s.number >= c.oldest && s.isFresh(notOlderThan)) {
		return s
	}
	return nil
}

// isFresh is the rule.
func (s *snapshot) isFresh(notOlderThan time.Time) bool {
	switch {
	case s.failure != nil || time.Since(s.asked) >= maxAge:
		return false
	case notOlderThan.IsZero():
		return true
	case s.asOf.IsZero():
		return false
	default:
		return !s.asOf.Before(notOlderThan.Add(margin))
	}
}

var errPanicked = errors.New("a panic ended the discovery")

// fetch asks the server. If the caller's context has ended, the error is for that caller only.
func (c *Cached) fetch(ctx context.Context, taken *snapshot) {
	taken.failure = errPanicked // unless discover returns
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if ctx.Err() == nil {
			c.last = taken
		}
		close(c.asking)
		c.asking = nil
	}()
	if found, err := c.client.discover(ctx); err != nil {
		taken.failure = err
	} else {
		taken.lists, taken.asOf, taken.failure = found.preferred(namespaced), found.asOf, found.failure()
	}
}
