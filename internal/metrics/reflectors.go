package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"orrery/informer/reflector"
)

// reflectors are the metrics of list-watches that no snapshot tells.
type reflectors struct {
	errors  *prometheus.CounterVec
	zombies *prometheus.CounterVec
}

func newReflectors(registry *prometheus.Registry) reflectors {
	r := reflectors{
		errors:  register(registry, reflectorErrors.counters()),
		zombies: register(registry, zombieWatches.counters()),
	}
	r.zombies.WithLabelValues(reflector.ZombieByIdle) // 0 is worth showing: there have been none
	r.zombies.WithLabelValues(reflector.ZombieByPing)
	return r
}

// Reflector returns hooks for the list-watch of an informer of that name.
func (m *Metrics) Reflector(name string) *reflector.Trace {
	return &reflector.Trace{
		BackOff: func(_ time.Duration, err error) {
			m.reflectors.errors.WithLabelValues(name, reflector.CauseOf(err).String()).Inc()
		},
		Zombie: func(_ time.Duration, by string) { m.reflectors.zombies.WithLabelValues(by).Inc() },
	}
}
