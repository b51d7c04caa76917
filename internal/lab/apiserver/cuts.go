package apiserver

import "sync"

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
