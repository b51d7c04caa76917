package apiserver

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

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
