package gears

import (
	"fmt"
	"sync"

	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/observe/trace"
	"orrery/queue"
)

// recording is where the gears of a set are recorded.
type recording struct {
	recorder *trace.Recorder

	mu    sync.Mutex
	names map[string]int // guarded by mu: how many queues have had a name
}

// Recorded returns the same set of gears with the recorder's hooks on each of them. A nil recorder
// changes nothing.
func (s Set) Recorded(recorder *trace.Recorder) Set {
	s.recording = nil
	if recorder != nil {
		s.recording = &recording{recorder: recorder, names: map[string]int{}}
	}
	return s
}

// Recorder returns the recorder, nil if the gears are not recorded. A nil Recorder returns nil hooks.
func (s Set) Recorder() *trace.Recorder {
	if s.recording == nil {
		return nil
	}
	return s.recording.recorder
}

// queueTrace joins the recorder's hooks to those of a queue. Queues of one name are recorded under
// different ones, because each numbers its own events.
func (s Set) queueTrace(name string, own *queue.Trace[string]) *queue.Trace[string] {
	r := s.recording
	if r == nil {
		return own
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if name == "" {
		name = "queue"
	}
	r.names[name]++
	if n := r.names[name]; n > 1 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return queue.JoinTraces(own, r.recorder.Queue(name))
}

// Record returns an informer's configuration with the recorder's hooks joined to its own.
func Record[T informer.Object](s Set, config informer.Config[T]) informer.Config[T] {
	if r := s.Recorder(); r != nil {
		config.Reflector.Trace = reflector.JoinTraces(config.Reflector.Trace, r.Reflector(config.Name))
	}
	return config
}
