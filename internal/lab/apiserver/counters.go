package apiserver

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"orrery/internal/lab/apiserver/store"
	"orrery/internal/lab/apiserver/stream"
)

// counters are what a Snapshot reads. The zero value has counted nothing.
type counters struct {
	inFlight, watches, cutWatches, panics atomic.Int64

	// mu guards requests.
	mu       sync.Mutex
	requests map[string]map[int]int64 // by verb and code
}

// countedVerbs are the verbs that are counted under their own name. The rest are one: methods are of the client's choice, and a
// map by what clients choose would grow.
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

// count notes that a request has been answered.
func (s *Server) count(x *exchange, took time.Duration) {
	s.counters.add(x.info.Verb, x.w.code)
	if s.trace != nil && s.trace.RequestDone != nil {
		s.trace.RequestDone(x.describe(), RequestResult{Code: x.w.code, Bytes: x.w.bytes, Duration: took})
	}
}

// noteCut counts the watches whose client did not read in time.
func (s *Server) noteCut(err error) {
	if stream.IsTimeout(err) {
		s.cutWatches.Add(1)
	}
}

// Snapshot is plain data about a [Server], for the debug endpoint and for tests.
type Snapshot struct {
	// Requests is how many requests have been answered, by verb and code.
	Requests map[string]map[int]int64 `json:"requests"`
	// InFlight is how many requests are being answered, without watches.
	InFlight int64 `json:"inFlight"`
	// Watches is how many watches are open.
	Watches int64 `json:"watches"`
	// CutWatches is how many watches were ended because their client did not read.
	CutWatches int64 `json:"cutWatches"`
	// Panics is how many handlers have panicked.
	Panics int64 `json:"panics"`
	// Store is what is stored.
	Store store.Snapshot `json:"store"`
}

// Snapshot is what goes on in the server at the moment.
func (s *Server) Snapshot() Snapshot {
	return Snapshot{
		Requests: s.byVerb(),
		InFlight: s.inFlight.Load(), Watches: s.watches.Load(), CutWatches: s.cutWatches.Load(), Panics: s.panics.Load(),
		Store: s.store.Snapshot(),
	}
}

// cuts breaks all watches that are open at once.
type cuts struct {
	// mu guards now, which is closed and replaced at every cut.
	mu  sync.Mutex
	now chan struct{}
}

// next returns what is closed when watches are cut.
func (c *cuts) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil {
		c.now = make(chan struct{})
	}
	return c.now
}

// cut breaks the connections of all watches that are open.
func (c *cuts) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now != nil {
		close(c.now)
		c.now = nil
	}
}

// gate counts the requests inside, so that Stop can wait for all of them: net/http does not wait for handlers whose connection it
// has closed, and knows nothing of connections that have become websockets.
type gate struct {
	// mu guards closed; nobody enters after it has been set.
	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup
}

// enter lets a request in, which must leave again. It fails when the gate is closed.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.inside.Add(1)
	}
	return !g.closed
}

func (g *gate) leave() { g.inside.Done() }

// close lets nobody in any more.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// wait blocks until nobody is inside. Call it after close.
func (g *gate) wait() { g.inside.Wait() }
