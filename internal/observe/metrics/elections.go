package metrics

import "orrery/internal/observe/metrics/exposition"

// elections are the metrics of leader election, by the name of the Lease.
type elections struct {
	status   *exposition.Vec[exposition.Gauge]
	slowPath *exposition.Vec[exposition.Counter]
}

func newElections(registry *exposition.Registry) elections {
	return elections{
		status:   registry.Gauges(leaderStatus.desc()),
		slowPath: registry.Counters(leaderSlowPath.desc()),
	}
}

// Leading says whether this process leads the election of that name.
func (m *Metrics) Leading(name string, yes bool) {
	m.elections.slowPath.With(name) // is there, with 0, from the beginning
	value := 0.0
	if yes {
		value = 1
	}
	m.elections.status.With(name).Set(value)
}

// SlowPath counts a renewal of the Lease that had to read it first.
func (m *Metrics) SlowPath(name string) { m.elections.slowPath.With(name).Inc() }
