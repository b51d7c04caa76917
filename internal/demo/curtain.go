package demo

import (
	"sync"

	"orrery/internal/demo/display"
)

// Curtain gives the terminal back, from wherever it has to be done: after the scene, after a signal, before a panic is
// printed. The zero value is ready to use.
type Curtain struct {
	mu      sync.Mutex
	display display.Display // guarded by mu; nil: nothing to give back
}

// Fall gives the terminal back. It may be called at any time, more than once, and from any goroutine.
func (c *Curtain) Fall() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.display != nil {
		c.display.Close()
	}
}

func (c *Curtain) rise(d display.Display) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display = d
}
