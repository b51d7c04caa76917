package metrics

import (
	"strings"
	"time"

	"orrery/controller"
	"orrery/controller/events"
	"orrery/informer/reflector"
	"orrery/queue"
)

// manager is the name of the program in Kubernetes' metrics.
const manager = "orrery"

// Running sets whether a controller works in this process.
func (m *Metrics) Running(controller string, yes bool) {
	m.gauge(controllersRunning, controller, manager).Set(boolean(yes))
}

// Controller returns hooks that count the passes of a controller.
func (m *Metrics) Controller(name string) *controller.PoolTrace {
	for _, result := range []string{passDone, passFailed, passPanicked, passTimedOut, passCutShort} {
		m.counter(controllerPasses, name, result)
	}
	return &controller.PoolTrace{PassDone: func(_ string, _ time.Duration, _ int, _ time.Duration, err error) {
		m.counter(controllerPasses, name, passResult(err)).Inc()
	}}
}

// Queues returns the provider of the metrics of work queues. Pass the queue's UpdateMetrics to
// BeforeGather.
func (m *Metrics) Queues() queue.MetricsProvider {
	return func(name string) queue.Metrics {
		return queue.Metrics{
			Depth:          m.gauge(queueDepth, name),
			UnfinishedWork: m.gauge(queueUnfinished, name),
			LongestRunning: m.gauge(queueLongest, name),
			Adds:           m.counter(queueAdds, name),
			Retries:        m.counter(queueRetries, name),
			Latency:        m.histogram(queueLatency, name),
			WorkDuration:   m.histogram(queueWork, name),
		}
	}
}

// Leading sets whether this process leads the election of that name.
func (m *Metrics) Leading(name string, yes bool) {
	m.gauge(leaderStatus, readable(name)).Set(boolean(yes))
}

// Reflector returns hooks that count the failures of an informer's list-watch by their cause;
// snapshots have no causes.
func (m *Metrics) Reflector(name string) *reflector.Trace {
	for cause := reflector.CauseUnknown; cause <= reflector.CauseUnreachable; cause++ {
		m.counter(reflectorErrors, name, cause.String())
	}
	return &reflector.Trace{
		BackOff: func(_ time.Duration, err error) {
			m.counter(reflectorErrors, name, reflector.CauseOf(err).String()).Inc()
		},
	}
}

// The labels of what was dropped.
const (
	byEvents = "events"
	byLogs   = "logs"
	lostLine = "writer"
)

func dropLabel(why events.Drop) string { return strings.ReplaceAll(string(why), " ", "_") }

// Events counts what a recorder of Kubernetes Events records and drops. It may be called for
// several recorders.
func (m *Metrics) Events(snapshot func() events.Snapshot) {
	m.read(func(put putFunc) {
		s := snapshot()
		put(recordedTotal, float64(s.Recorded))
		for _, why := range events.Drops() {
			put(droppedTotal, float64(s.Dropped[why]), byEvents, dropLabel(why))
		}
	})
}

// LostLines counts the lines that the log has dropped.
func (m *Metrics) LostLines(count func() int64) {
	m.read(func(put putFunc) { put(droppedTotal, float64(count()), byLogs, lostLine) })
}
