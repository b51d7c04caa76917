package metrics

// Leading says whether this process leads the election of that name.
func (m *Metrics) Leading(name string, yes bool) {
	m.counter(leaderSlowPath, name) // is there, with 0, from the beginning
	m.gauge(leaderStatus, name).Set(boolean(yes))
}

// SlowPath counts a renewal of the Lease that had to read it first.
func (m *Metrics) SlowPath(name string) { m.counter(leaderSlowPath, name).Inc() }
