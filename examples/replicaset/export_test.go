package replicaset

import "time"

// ForgetExpectations makes the controller trust the informer's store.
func (c *Controller) ForgetExpectations() { c.satisfied = func(string) bool { return true } }

// AskSlowly makes the controller look at an expectation 20 seconds late.
func (c *Controller) AskSlowly() {
	satisfied := c.satisfied
	c.satisfied = func(set string) bool {
		time.Sleep(20 * time.Second)
		return satisfied(set)
	}
}
