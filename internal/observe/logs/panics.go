package logs

import (
	"bytes"
	"strings"
	"sync"
)

// seldom lets the same text pass once a minute. A handler that panics does so for every event,
// which may be thousands a second; the metric orrery_listener_panics_total counts them. A queue
// that panics does so without end.
type seldom struct {
	mu     sync.Mutex // guards logged
	logged recent
}

func (s *seldom) due(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logged.due(text)
}

// Panic logs a panic that the program has survived, with its stack: one from the same place once a
// minute. name must not hold the content of objects.
func (l *Logger) Panic(name string, stack []byte) {
	if l.panics.due(name + placesIn(stack)) {
		l.Error().Str("panic", name).Bytes("stack", stack).Msg("panic in this program, continuing")
	}
}

// placesIn returns the files and lines of a stack, without the arguments of its functions.
func placesIn(stack []byte) string {
	var places strings.Builder
	for line := range bytes.Lines(stack) {
		if place, isPlace := bytes.CutPrefix(line, []byte("\t")); isPlace {
			place, _, _ = bytes.Cut(place, []byte(" +0x"))
			places.Write(place)
		}
	}
	return places.String()
}
