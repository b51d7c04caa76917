package trace

import (
	"bytes"
	"context"
	"io"
	"sync"
)

const (
	historySize = 64 << 20 // bytes of lines and states
	chunkEvents = 10_000
	batchSize   = 256 << 10
)

// History is a ring of the latest events, as encoded lines, with a state every 10,000 events. Any
// number of cursors read it, each at its own pace; none slows the recording down.
type History struct {
	mu      sync.Mutex
	changed chan struct{} // guarded by mu; closed when events were added, then replaced
	chunks  []*chunk      // guarded by mu; the oldest first, never empty
	size    int           // guarded by mu; bytes
	ended   bool          // guarded by mu
	limit   int           // bytes
}

// chunk is a part of the history.
type chunk struct {
	first uint64 // sequence number of the first line
	count uint64 // lines
	state []byte // JSON of the State before the first line
	lines []byte // only appended to
}

func newHistory(state []byte) *History {
	return &History{changed: make(chan struct{}), limit: historySize, chunks: []*chunk{{first: 1, state: state}}, size: len(state)}
}

// add appends whole lines. It returns true when the next call should begin a chunk.
func (h *History) add(lines []byte, count uint64) (full bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.chunks[len(h.chunks)-1]
	last.lines = append(last.lines, lines...)
	last.count += count
	h.size += len(lines)
	for h.size > h.limit && len(h.chunks) > 1 {
		h.size -= len(h.chunks[0].state) + len(h.chunks[0].lines)
		h.chunks = append([]*chunk(nil), h.chunks[1:]...)
	}
	h.tellLocked()
	return last.count >= chunkEvents
}

// begin begins a chunk with the state after the last line.
func (h *History) begin(state []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.chunks[len(h.chunks)-1]
	h.chunks = append(h.chunks, &chunk{first: last.first + last.count, state: state})
	h.size += len(state)
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
	at      *chunk // nil: nothing was read yet
	offset  int    // in at.lines
	next    uint64 // sequence number of the next line
	back    uint64
}

// Batch is what a Cursor reads at once.
type Batch struct {
	// State is the JSON of the [State] before the first line. It is there at the beginning, and
	// when the cursor has fallen out of the ring; otherwise nil.
	State []byte
	// Skipped is how many events the cursor missed because it fell out.
	Skipped uint64
	// Lines are whole lines, each with its newline; at most about 256 KiB. They must not be
	// changed.
	Lines []byte
	// First and Next are the sequence numbers of the first line and of the one after the last.
	First, Next uint64
}

// Cursor returns a cursor whose first Batch begins at least this many events back, as far as the
// ring goes.
func (h *History) Cursor(back uint64) *Cursor { return &Cursor{history: h, back: back} }

// Next blocks until there are events, or the first state, and returns them. It returns the error of
// ctx after the last event before its end, or io.EOF after the last event of a recording that has
// ended.
func (c *Cursor) Next(ctx context.Context) (Batch, error) {
	for {
		batch, ok, ended, changed := c.take()
		if ok {
			return batch, nil
		}
		if ended {
			return Batch{}, io.EOF
		}
		select {
		case <-ctx.Done():
			if batch, ok, _, _ := c.take(); ok { // it came before the end
				return batch, nil
			}
			return Batch{}, ctx.Err()
		case <-changed:
		}
	}
}

func (c *Cursor) take() (batch Batch, ok, ended bool, changed <-chan struct{}) {
	h := c.history
	h.mu.Lock()
	defer h.mu.Unlock()
	newest := h.chunks[len(h.chunks)-1]
	switch {
	case c.at == nil:
		c.enter(h.startLocked(newest.first+newest.count, c.back))
		batch.State = c.at.state
	case c.at.first < h.chunks[0].first: // fallen out
		batch.Skipped = newest.first - c.next
		c.enter(newest)
		batch.State = c.at.state
	case c.offset == len(c.at.lines) && c.at != newest:
		c.enter(h.chunks[c.at.indexIn(h.chunks)+1])
	}
	lines := c.at.lines[c.offset:]
	if len(lines) > batchSize {
		end := bytes.LastIndexByte(lines[:batchSize], '\n')
		if end < 0 { // a trace.state may be longer
			end = bytes.IndexByte(lines, '\n')
		}
		lines = lines[:end+1]
	}
	c.offset += len(lines)
	batch.Lines, batch.First = lines, c.next
	c.next += uint64(bytes.Count(lines, []byte{'\n'}))
	batch.Next = c.next
	return batch, batch.State != nil || len(lines) > 0, h.ended, h.changed
}

// startLocked returns the last chunk that begins at least back events before next, or the oldest.
func (h *History) startLocked(next, back uint64) *chunk {
	for i := len(h.chunks) - 1; i > 0; i-- {
		if h.chunks[i].first+back <= next {
			return h.chunks[i]
		}
	}
	return h.chunks[0]
}

func (c *Cursor) enter(at *chunk) { c.at, c.offset, c.next = at, 0, at.first }

func (k *chunk) indexIn(chunks []*chunk) int {
	for i := range chunks {
		if chunks[i] == k {
			return i
		}
	}
	return 0
}
