package metrics

import (
	"context"
	"errors"
	"time"

	"orrery/examples/worker"
	"orrery/wait"
)

// manager is how Kubernetes' metrics call the program.
const manager = "orrery"

// Running says whether a controller works in this process.
func (m *Metrics) Running(controller string, yes bool) {
	m.gauge(controllersRunning, controller, manager).Set(boolean(yes))
}

// Controller returns hooks that count the passes of a controller.
func (m *Metrics) Controller(name string) *worker.Trace {
	for _, result := range []string{passDone, passFailed, passPanicked, passTimedOut, passCutShort} {
		m.counter(controllerPasses, name, result)
	}
	return &worker.Trace{PassDone: func(_ string, _ time.Duration, _ int, _ time.Duration, err error) {
		m.counter(controllerPasses, name, controllerPassResult(err)).Inc()
	}}
}

func controllerPassResult(err error) string {
	var panicked *wait.Panic
	switch {
	case err == nil:
		return passDone
	case errors.As(err, &panicked):
		return passPanicked
	case errors.Is(err, worker.ErrPassTimeout):
		return passTimedOut
	case errors.Is(err, worker.ErrCutShort), errors.Is(err, context.Canceled):
		return passCutShort
	}
	return passFailed
}
