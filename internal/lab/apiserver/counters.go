package apiserver

import (
	"sync"
	"sync/atomic"
	"time"

	"orrery/internal/lab/apiserver/store"
)

// counters are the counts for a Snapshot.
type counters struct {
	watches, cutWatches, panics atomic.Int64
}

// report reports an answered request to the trace.
func (s *Server) report(x *exchange, took time.Duration) {
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
		Watches: s.watches.Load(), CutWatches: s.cutWatches.Load(), Panics: s.panics.Load(),
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
