package nsctl

// Settled is the number of deletions that the controller remembers.
func (c *Controller) Settled() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.deletions)
}
