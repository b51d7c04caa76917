package replicaset

// ForgetExpectations makes the controller believe what the informer's store says.
func (c *Controller) ForgetExpectations() { c.satisfied = func(string) bool { return true } }
