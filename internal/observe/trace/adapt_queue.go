package trace

import (
	"time"

	"orrery/queue"
)

// Queue returns the hooks of the work queue with this name.
func (r *Recorder) Queue(name string) *queue.Trace[string] {
	if r == nil {
		return nil
	}
	event := func(k kind) func(queue.Event[string]) {
		return func(e queue.Event[string]) { r.put(record{kind: k, in: name, key: e.Key, id: e.Seq}) }
	}
	timed := func(k kind) func(queue.Event[string], time.Duration) {
		return func(e queue.Event[string], d time.Duration) {
			r.put(record{kind: k, in: name, key: e.Key, id: e.Seq, z: int64(d)})
		}
	}
	return &queue.Trace[string]{
		Added: event(queueAdded), Coalesced: event(queueCoalesced), Refused: event(queueRefused),
		Delayed: timed(queueDelayed), DelayCanceled: event(queueDelayCanceled), DelayEnded: timed(queueDelayEnded),
		Got: timed(queueGot), Done: timed(queueDone), DoneUnknown: event(queueDoneUnknown),
		Retried: func(key string, requeues int, wait time.Duration) {
			r.put(record{kind: queueRetried, in: name, key: key, x: int64(requeues), z: int64(wait)})
		},
		Forgotten: func(key string) { r.put(record{kind: queueForgotten, in: name, key: key}) },
		ShuttingDown: func(drain bool, dropped int) {
			r.put(record{kind: queueShuttingDown, in: name, yes: drain, x: int64(dropped)})
		},
	}
}
