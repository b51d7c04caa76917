package metrics

// Recorded has the metrics show how many Kubernetes Events the server has taken.
func (m *Metrics) Recorded(count func() int64) {
	m.recorded.add(func() float64 { return float64(count()) })
}

// Dropped has the metrics show how many notices somebody has dropped for a reason.
func (m *Metrics) Dropped(by, reason string, count func() int64) {
	m.dropped.add(func() float64 { return float64(count()) }, by, reason)
}
