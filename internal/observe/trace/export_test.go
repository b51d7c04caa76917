package trace

// StartSmall starts a Recorder with a buffer of this many events. The buffer of one never wakes the
// collector early, so a burst that does not block loses all but its first event.
func StartSmall(config Config, capacity int) (*Recorder, error) { return start(config, capacity) }

// NewHistory returns a History of this size with a first state.
func NewHistory(limit int) *History {
	h := newHistory([]byte("state 0\n"))
	h.limit = limit
	return h
}

// Add and Begin are what the collector does.
func (h *History) Add(lines string, seq uint64)   { h.add([]byte(lines), seq) }
func (h *History) Begin(state string, seq uint64) { h.begin([]byte(state), seq) }
func (h *History) End()                           { h.end() }
