package metrics

import (
	"time"

	"orrery/informer/reflector"
)

// Reflector returns hooks for the list-watch of an informer of that name: what no snapshot tells.
func (m *Metrics) Reflector(name string) *reflector.Trace {
	return &reflector.Trace{
		BackOff: func(_ time.Duration, err error) {
			m.counter(reflectorErrors, name, reflector.CauseOf(err).String()).Inc()
		},
	}
}
