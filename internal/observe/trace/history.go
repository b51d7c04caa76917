package trace

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"
)

const (
	historySize = 64 << 20 // bytes of lines
	batchSize   = 256 << 10
)

// History is a ring of the latest events, as encoded lines, with a state after 1,000 events. Any
// number of cursors read it, each at its own pace; none slows the recording down.
type History struct {
	mu      sync.Mutex
	changed chan struct{} // guarded by mu; closed when lines were added, then replaced
	chunks  []*chunk      // guarded by mu; the oldest first, never empty
	last    uint64        // guarded by mu; the sequence number of the last event
	size    int           // guarded by mu; bytes
	ended   bool          // guarded by mu
	limit   int           // bytes
}

// chunk is a part of the history: the line of a state, and the lines of the events after it.
type chunk struct {
	seq   uint64 // of the state
	lines []byte // only appended to
}

// newHistory returns a History that begins with the line of the first state.
func newHistory(state []byte) *History {
	h := &History{changed: make(chan struct{}), limit: historySize}
	h.begin(state, 0)
	return h
}

// add appends the lines of events up to this sequence number.
func (h *History) add(lines []byte, seq uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = seq
	h.addLocked(lines)
}

// begin begins a chunk with the line of the state after the last event.
func (h *History) begin(state []byte, seq uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = seq
	h.chunks = append(h.chunks, &chunk{seq: seq})
	h.addLocked(state)
}

func (h *History) addLocked(lines []byte) {
	last := h.chunks[len(h.chunks)-1]
	last.lines = append(last.lines, lines...)
	h.size += len(lines)
	for h.size > h.limit && len(h.chunks) > 1 {
		h.size -= len(h.chunks[0].lines)
		h.chunks = slices.Clone(h.chunks[1:])
	}
	h.tellLocked()
}

func (h *History) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	h.tellLocked()
}

func (h *History) tellLocked() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// Cursor reads the History from one place on. It is for one goroutine.
type Cursor struct {
	history *History
	back    uint64
	at      *chunk // nil: nothing was read yet
	offset  int    // in at.lines
}

// Cursor returns a cursor that begins with a state at least this many events back, as far as the
// ring goes.
func (h *History) Cursor(back uint64) *Cursor { return &Cursor{history: h, back: back} }

// Next blocks until there are lines, and returns some of them: whole ones, about 256 KiB at most,
// which the caller must not change. A cursor that has fallen out of the ring goes on with a later
// state. It returns the error of ctx after the last event before its end, or io.EOF after the last
// event of a recording that has ended.
func (c *Cursor) Next(ctx context.Context) (lines []byte, err error) {
	for {
		lines, ended, changed := c.take()
		if len(lines) > 0 {
			return lines, nil
		}
		if ended {
			return nil, io.EOF
		}
		select {
		case <-ctx.Done():
			if lines, _, _ := c.take(); len(lines) > 0 { // they came before the end
				return lines, nil
			}
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

func (c *Cursor) take() (lines []byte, ended bool, changed <-chan struct{}) {
	h := c.history
	h.mu.Lock()
	defer h.mu.Unlock()
	newest := h.chunks[len(h.chunks)-1]
	switch i := slices.Index(h.chunks, c.at); {
	case c.at == nil:
		c.at = h.startLocked(c.back)
	case i < 0: // fallen out
		c.at, c.offset = newest, 0
	case c.offset == len(c.at.lines) && c.at != newest:
		c.at, c.offset = h.chunks[i+1], 0
	}
	lines = c.at.lines[c.offset:]
	if len(lines) > batchSize {
		end := bytes.LastIndexByte(lines[:batchSize], '\n')
		if end < 0 { // a state may be longer
			end = bytes.IndexByte(lines, '\n')
		}
		lines = lines[:end+1]
	}
	c.offset += len(lines)
	return lines, h.ended, h.changed
}

// startLocked returns the last chunk that begins at least back events before the end, or the first.
func (h *History) startLocked(back uint64) *chunk {
	for _, chunk := range slices.Backward(h.chunks) {
		if chunk.seq+back <= h.last {
			return chunk
		}
	}
	return h.chunks[0]
}
