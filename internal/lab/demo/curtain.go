package demo

import (
	"sync"

	"orrery/internal/lab/demo/story"
)

// Curtain restores the terminal: after the scene, after a signal, before a panic is printed. The
// zero value is ready to use. All methods may be called from any goroutine.
type Curtain struct {
	mu      sync.Mutex
	display story.Display // guarded by mu; nil: nothing to restore
	fallen  bool          // guarded by mu
}

// Fall restores the terminal for good. It may be called more than once.
func (c *Curtain) Fall() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fallen = true
	if c.display != nil {
		c.display.Close()
	}
}

// Lower restores the terminal until Raise, for example while the program is suspended. Pages drawn
// in between are dropped.
func (c *Curtain) Lower() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.display != nil {
		c.display.Close()
	}
}

// Raise takes the terminal over again, unless the curtain has fallen.
func (c *Curtain) Raise() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.display != nil && !c.fallen {
		c.display.Open()
	}
}

// rise sets the display, until drop.
func (c *Curtain) rise(d story.Display) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display = d
}

// drop removes the display, which has been closed.
func (c *Curtain) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display = nil
}
