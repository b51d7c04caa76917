package metrics

import (
	"time"

	"orrery/informer/reflector"
	"orrery/internal/observe/metrics/exposition"
)

// reflectors are the metrics of list-watches that no snapshot tells.
type reflectors struct {
	errors *exposition.Vec[exposition.Counter]
}

func newReflectors(registry *exposition.Registry) reflectors {
	return reflectors{errors: registry.Counters(reflectorErrors.desc())}
}

// Reflector returns hooks for the list-watch of an informer of that name.
func (m *Metrics) Reflector(name string) *reflector.Trace {
	return &reflector.Trace{
		BackOff: func(_ time.Duration, err error) {
			m.reflectors.errors.With(name, reflector.CauseOf(err).String()).Inc()
		},
	}
}
