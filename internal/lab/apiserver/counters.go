package apiserver

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"orrery/internal/lab/apiserver/store"
)

// counters are the counts for a Snapshot.
type counters struct {
	inFlight, watches, cutWatches, panics atomic.Int64

	mu       sync.Mutex
	requests map[string]map[int]int64 // by verb and code; guarded by mu
}

// countedVerbs are counted by name. All others are counted together, because clients choose the
// method and the map must not grow.
var countedVerbs = map[string]bool{
	"get": true, "list": true, "watch": true, "create": true, "update": true, "patch": true, "delete": true, "deletecollection": true,
	"post": true, "put": true, "head": true, "options": true,
}

func (c *counters) add(verb string, code int) {
	if !countedVerbs[verb] {
		verb = "other"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests == nil {
		c.requests = map[string]map[int]int64{}
	}
	if c.requests[verb] == nil {
		c.requests[verb] = map[int]int64{}
	}
	c.requests[verb][code]++
}

func (c *counters) byVerb() map[string]map[int]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]map[int]int64, len(c.requests))
	for verb, codes := range c.requests {
		out[verb] = maps.Clone(codes)
	}
	return out
}

// count counts an answered request.
func (s *Server) count(x *exchange, took time.Duration) {
	s.counters.add(x.info.Verb, x.w.code)
	if s.trace != nil && s.trace.RequestDone != nil {
		s.trace.RequestDone(x.describe(), RequestResult{Code: x.w.code, Bytes: x.w.bytes, Duration: took})
	}
}

// countCut counts watches whose client did not read in time.
func (s *Server) countCut(err error) {
	if isTimeout(err) {
		s.cutWatches.Add(1)
	}
}

// Snapshot describes a [Server] at one moment, for the debug endpoint and tests.
type Snapshot struct {
	// Requests is the number of answered requests by verb and code.
	Requests map[string]map[int]int64 `json:"requests"`
	// InFlight is the number of requests being answered, without watches.
	InFlight int64 `json:"inFlight"`
	// Watches is the number of open watches.
	Watches int64 `json:"watches"`
	// CutWatches is the number of watches ended because their client did not read.
	CutWatches int64 `json:"cutWatches"`
	// Panics is the number of panics in handlers.
	Panics int64          `json:"panics"`
	Store  store.Snapshot `json:"store"`
}

func (s *Server) Snapshot() Snapshot {
	return Snapshot{
		Requests: s.byVerb(),
		InFlight: s.inFlight.Load(), Watches: s.watches.Load(), CutWatches: s.cutWatches.Load(), Panics: s.panics.Load(),
		Store: s.store.Snapshot(),
	}
}

// cuts breaks all open watches at once.
type cuts struct {
	// mu guards now, which is closed and replaced by every cut.
	mu  sync.Mutex
	now chan struct{}
}

// next returns a channel that is closed by the next cut.
func (c *cuts) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil {
		c.now = make(chan struct{})
	}
	return c.now
}

// cut breaks the connections of all open watches.
func (c *cuts) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now != nil {
		close(c.now)
		c.now = nil
	}
}

// runningRequests counts running requests, so that Stop can wait for them. net/http does not wait
// for handlers whose connections it has closed, and does not track websockets.
type runningRequests struct {
	// mu guards closed. No request enters once it is set.
	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup
}

// enter admits a request, which must call leave. It returns false after close.
func (r *runningRequests) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.inside.Add(1)
	}
	return !r.closed
}

func (r *runningRequests) leave() { r.inside.Done() }

// close refuses further requests.
func (r *runningRequests) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// wait blocks until all requests have left. It must be called after close.
func (r *runningRequests) wait() { r.inside.Wait() }
