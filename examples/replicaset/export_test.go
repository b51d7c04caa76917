package replicaset

// ForgetExpectations makes the controller trust the informer's store.
func (c *Controller) ForgetExpectations() { c.satisfied = func(string) bool { return true } }
