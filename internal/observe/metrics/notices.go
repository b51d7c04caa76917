package metrics

import "orrery/internal/observe/metrics/exposition"

// notices are the metrics of what is told to people, and of what gets lost on the way.
type notices struct {
	recorded, dropped *sum
}

func newNotices(registry *exposition.Registry) notices {
	return notices{
		recorded: newSum(registry, recordedTotal),
		dropped:  newSum(registry, droppedTotal),
	}
}

// Recorded has the metrics show how many Kubernetes Events the server has taken.
func (m *Metrics) Recorded(count func() int64) {
	m.notices.recorded.add(func() float64 { return float64(count()) })
}

// Dropped has the metrics show how many notices somebody has dropped for a reason.
func (m *Metrics) Dropped(by, reason string, count func() int64) {
	m.notices.dropped.add(func() float64 { return float64(count()) }, by, reason)
}
