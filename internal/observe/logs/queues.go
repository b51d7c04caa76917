package logs

import (
	"time"

	"orrery/queue"
)

// Queue returns hooks that log the work queue of a controller. A line about a key in progress has
// the id of its pass.
func (l *Logger) Queue(name, controller string) *queue.Trace[string] {
	if l.verbosity < verbosityPasses {
		return nil // a queue without a trace does not read the clock
	}
	return &queue.Trace[string]{
		Added: func(e queue.Event[string]) {
			l.passes.of(controller, e.Key, l.at(verbosityEvents)).Str("queue", name).Str("key", e.Key).Msg("queued")
		},
		Delayed: func(e queue.Event[string], wait time.Duration) {
			l.passes.of(controller, e.Key, l.at(verbosityEvents)).Str("queue", name).Str("key", e.Key).Dur("wait_s", rounded(wait)).Msg("delayed")
		},
		Retried: func(key string, requeues int, wait time.Duration) {
			l.passes.of(controller, key, l.at(verbosityPasses)).Str("queue", name).Str("key", key).Int("failures", requeues).Dur("wait_s", rounded(wait)).Msg("retry planned")
		},
		Got: func(e queue.Event[string], waited time.Duration) {
			l.at(verbosityEvents).Str("queue", name).Str("key", e.Key).Dur("waited_s", rounded(waited)).Msg("taken by a worker")
		},
		Done: func(e queue.Event[string], worked time.Duration) {
			l.at(verbosityEvents).Str("queue", name).Str("key", e.Key).Dur("worked_s", rounded(worked)).Msg("done")
		},
	}
}
