package demo

import (
	"sync"

	"orrery/internal/lab/demo/display"
)

// Curtain gives the terminal back, from wherever it has to be done: after the scene, after a signal, before a panic is
// printed. The zero value is ready to use, and so are all methods from any goroutine.
type Curtain struct {
	mu      sync.Mutex
	display display.Display // guarded by mu; nil: nothing to give back
	fallen  bool            // guarded by mu
}

// Fall gives the terminal back for good. It may be called more than once.
func (c *Curtain) Fall() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fallen = true
	if c.display != nil {
		c.display.Close()
	}
}

// Lower gives the terminal back for a while, as for somebody who suspends the program; Raise takes it again, unless the
// curtain has fallen meanwhile. What would be drawn in between is dropped.
func (c *Curtain) Lower() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.display != nil {
		c.display.Close()
	}
}

// Raise takes the terminal again.
func (c *Curtain) Raise() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.display != nil && !c.fallen {
		c.display.Open()
	}
}

// rise hands a display over, until drop.
func (c *Curtain) rise(d display.Display) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display = d
}

// drop forgets the display: it has been closed, and nobody may open it any more.
func (c *Curtain) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display = nil
}
