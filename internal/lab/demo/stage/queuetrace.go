package stage

import (
	"time"

	"orrery/internal/lab/demo/story"
	"orrery/queue"
)

// queueTrace returns the hooks of the controller's queue. Callbacks of different goroutines may
// come out of order, so the counters may be negative for a moment.
func (n *narrator) queueTrace() *queue.Trace[string] {
	ready, busy := 0, 0
	show := func(s *story.State) { s.Gears.Ready, s.Gears.Busy = max(0, ready), max(0, busy) }
	return &queue.Trace[string]{
		Delayed: func(e queue.Event[string], wait time.Duration) {
			n.about(e.Key, func(s *story.State) { n.delayed(s, e.Key, wait) })
		},
		DelayEnded: func(e queue.Event[string], _ time.Duration) {
			n.about(e.Key, func(s *story.State) {
				s.Gears.Later = 0
				n.due = 0
				if n.failures == 0 {
					s.Tell(story.Queue, "the delay of %s is over: it is ready for a worker", e.Key)
				}
			})
		},
		Added: func(e queue.Event[string]) {
			n.about(e.Key, func(s *story.State) {
				s.Gears.Adds++
				ready++
				show(s)
			})
		},
		Coalesced: func(e queue.Event[string]) { n.about(e.Key, func(s *story.State) { s.Gears.Coalesced++ }) },
		Retried: func(key string, _ int, wait time.Duration) {
			n.about(key, func(s *story.State) {
				s.Gears.Retries++
				n.backOff = wait
			})
		},
		Got: func(e queue.Event[string], _ time.Duration) {
			n.about(e.Key, func(s *story.State) {
				s.Gears.Gets++
				ready--
				busy++
				show(s)
			})
		},
		Done: func(e queue.Event[string], _ time.Duration) {
			n.about(e.Key, func(s *story.State) {
				busy--
				show(s)
			})
		},
	}
}

// delayed records the time of the next pass. Of several times the queue keeps the earliest.
func (n *narrator) delayed(s *story.State, key string, wait time.Duration) {
	s.Gears.Delays++
	s.Gears.Later = 1
	due := s.Elapsed + wait
	const same = 20 * time.Millisecond
	if n.due != 0 && due > n.due-same {
		return // the earlier one stays
	}
	n.due = due
	if n.failures > 0 {
		return
	}
	s.Tell(story.Queue, "AddAfter: %s is delayed by %s", key, short(wait))
	if s.Gears.Busy == 0 {
		n.wait(s, n.why)
	}
}
