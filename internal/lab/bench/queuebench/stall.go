package queuebench

import "time"

// mostStall is far below the time after which a workload counts an event as lost.
const mostStall = 10 * time.Second

// stalling makes queues that stand still once: no key is handed out for a while. It tests a
// harness, whose latencies must show it.
type stalling struct {
	Subject
	after, lasts time.Duration // since the queue was made
}

func (s stalling) New(options Options) Queue {
	from := time.Now().Add(s.after)
	return &stalled{s.Subject.New(options), from, from.Add(s.lasts)}
}

type stalled struct {
	Queue
	from, to time.Time
}

// Get holds the key until the stall is over.
func (q *stalled) Get() (key string, shutdown bool) {
	key, shutdown = q.Queue.Get()
	if now := time.Now(); now.After(q.from) && now.Before(q.to) {
		time.Sleep(q.to.Sub(now))
	}
	return key, shutdown
}
