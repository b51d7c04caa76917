package metrics

import (
	"context"
	"errors"
	"time"

	"orrery/examples/worker"
	"orrery/internal/observe/metrics/exposition"
	"orrery/wait"
)

// controllers are the metrics of a controller manager and of the controllers that have none of their own.
type controllers struct {
	running *exposition.Vec[exposition.Gauge]
	passes  *exposition.Vec[exposition.Counter]
}

func newControllers(registry *exposition.Registry) controllers {
	return controllers{
		running: registry.Gauges(controllersRunning.desc()),
		passes:  registry.Counters(controllerPasses.desc()),
	}
}

// manager is how Kubernetes' metrics call the program.
const manager = "orrery"

// Running says whether a controller works in this process.
func (m *Metrics) Running(controller string, yes bool) {
	m.controllers.running.With(controller, manager).Set(boolean(yes))
}

// Controller returns hooks that count the passes of a controller.
func (m *Metrics) Controller(name string) *worker.Trace {
	for _, result := range []string{passDone, passFailed, passPanicked, passTimedOut, passCutShort} {
		m.controllers.passes.With(name, result)
	}
	return &worker.Trace{PassDone: func(_ string, _ time.Duration, _ int, _ time.Duration, err error) {
		m.controllers.passes.With(name, controllerPassResult(err)).Inc()
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
