package gears

import (
	"fmt"
	"sync"

	"orrery/deltafifo"
	"orrery/informer"
	"orrery/internal/observe/trace"
	"orrery/queue"
)

// recording is where the single gears of a set are recorded.
type recording struct {
	recorder *trace.Recorder
	wrap     func(name string, q queue.ObservableInterface[string]) queue.ObservableInterface[string]

	mu    sync.Mutex
	names map[string]int // guarded by mu: how many gears have had a name
}

// Recorded returns the same set with the recorder's hooks on every work queue and every queue of
// deltas that it makes, for scenes on single gears. Controllers and informers join the hooks by
// themselves: they know the names. A nil recorder changes nothing.
func (s Set) Recorded(recorder *trace.Recorder) Set {
	s.recording = nil
	if recorder != nil {
		s.recording = &recording{recorder: recorder, names: map[string]int{}}
	}
	return s
}

// Wrapped returns the same set with a wrapper around every work queue that it makes.
func (s Set) Wrapped(wrap func(name string, q queue.ObservableInterface[string]) queue.ObservableInterface[string]) Set {
	wrapped := &recording{names: map[string]int{}, wrap: wrap}
	if s.recording != nil {
		wrapped.recorder = s.recording.recorder
	}
	s.recording = wrapped
	return s
}

// unused returns a name that no other gear has: each queue numbers its own events.
func (r *recording) unused(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[name]++
	if n := r.names[name]; n > 1 {
		return fmt.Sprintf("%s-%d", name, n)
	}
	return name
}

// newQueue returns a work queue with the recorder's hooks.
func (r *recording) newQueue(s Set, limiter queue.RateLimiter[string], config queue.Config[string]) queue.ObservableInterface[string] {
	name := r.unused("queue")
	config.Trace = queue.JoinTraces(config.Trace, r.recorder.Queue(name))
	s.recording = nil
	made := s.NewQueue(limiter, config)
	if r.wrap != nil {
		return r.wrap(name, made)
	}
	return made
}

// recordedQueue returns a constructor that joins the recorder's hooks; nil, the textbook form, is
// replaced by its constructor.
func recordedQueue[T any](s Set, make func(deltafifo.Config[T]) informer.Queue[T]) func(deltafifo.Config[T]) informer.Queue[T] {
	if s.recording == nil {
		return make
	}
	return func(config deltafifo.Config[T]) informer.Queue[T] {
		config.Trace = deltafifo.JoinTraces(config.Trace, trace.FIFO[T](s.recording.recorder, s.recording.unused("fifo")))
		if make == nil {
			return deltafifo.New(config)
		}
		return make(config)
	}
}
