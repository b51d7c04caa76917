package metrics

import "github.com/prometheus/client_golang/prometheus"

// elections are the metrics of leader election, by the name of the Lease.
type elections struct {
	status   *prometheus.GaugeVec
	slowPath *prometheus.CounterVec
}

func newElections(registry *prometheus.Registry) elections {
	return elections{
		status:   register(registry, leaderStatus.gauges()),
		slowPath: register(registry, leaderSlowPath.counters()),
	}
}

// Leading says whether this process leads the election of that name.
func (m *Metrics) Leading(name string, yes bool) {
	m.elections.slowPath.WithLabelValues(name) // is there, with 0, from the beginning
	value := 0.0
	if yes {
		value = 1
	}
	m.elections.status.WithLabelValues(name).Set(value)
}

// SlowPath counts a renewal of the Lease that had to read it first.
func (m *Metrics) SlowPath(name string) { m.elections.slowPath.WithLabelValues(name).Inc() }
