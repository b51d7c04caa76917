package apiserver

import "sync"

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
