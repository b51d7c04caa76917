package trace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	stateEvents = 1000                   // a whole state is written after so many events, or more
	gapTime     = 100 * time.Millisecond // how long a missing event of a queue is waited for
)

// collector numbers events, folds them and writes them. The Recorder's goroutine and callers of
// Flush use it.
type collector struct {
	header  Header
	history *History

	mu     sync.Mutex
	spare  []record // the Recorder's other buffer
	held   []record // swapped, but behind a gap in the order of a queue
	heldAt time.Time
	queues map[string]uint64 // by queue: the Seq of its last event
	seq    uint64
	time   int64 // of the last event
	state  *State
	lines  []byte // of events since the last write

	// of the last whole state: its number, its bytes, and the bytes of the lines since
	stateSeq         uint64
	stateSize, since int

	file   *file
	failed error
	ended  bool

	before func(*Event, *State) // see Recorder.Watch
	after  func(*Event)
}

func newCollector(config Config, start time.Time, capacity int) (*collector, error) {
	header := config.Header
	header.Version, header.Schema, header.Start = 1, Schema, start.UTC().Format(time.RFC3339Nano)
	header.Clock = cmp.Or(header.Clock, "real")
	c := &collector{
		header: header, spare: make([]record, 0, capacity),
		queues: map[string]uint64{}, state: NewState(),
		before: func(*Event, *State) {}, after: func(*Event) {},
	}
	whole := stateLine(0, 0, c.state)
	c.history = newHistory(whole)
	if config.File != "" {
		var err error
		if c.file, err = createFile(config.File, config.Limit, header, whole); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// waits reports whether events are held behind a gap.
func (c *collector) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.held) > 0
}

// collect takes what the recorder has. With all, it does not wait for missing events. The recording
// ends with the first lost events.
func (c *collector) collect(r *Recorder, all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	records, lost := r.swap(c.spare)
	if len(c.held) == 0 {
		c.heldAt = time.Now()
	}
	c.held = append(c.held, records...)
	clear(records) // the strings belong to objects
	c.spare = records
	ends := lost != nil
	done := c.inOrder(c.held, all || ends || time.Since(c.heldAt) >= gapTime)
	if done > 0 { // a gap behind them is new
		c.heldAt = time.Now()
	}
	rest := copy(c.held, c.held[done:])
	clear(c.held[rest:])
	c.held = c.held[:rest]
	if ends {
		c.lost(lost)
		return
	}
	c.write()
}

// inOrder emits records and returns how many. A queue calls its hooks after its lock is free, so
// two of its events may have changed places; the later one is not emitted before the missing one
// was found, unless anyway.
func (c *collector) inOrder(records []record, anyway bool) (done int) {
	for i := range records {
		e := &records[i]
		if e.hook == "" {
			continue
		}
		if numbered(e) {
			if last := c.queues[e.in]; e.id > last+1 {
				missing := int(e.id - last - 1)
				late := c.late(records[i+1:], e, missing)
				if len(late) < missing && !anyway {
					return i
				}
				for _, r := range late {
					c.emitQueue(r, min(r.at, e.at))
				}
			}
			c.emitQueue(e, e.at)
			continue
		}
		c.emit(e.event(e.at))
	}
	return len(records)
}

// late returns the records that belong before e, in their order: at most missing ones.
func (c *collector) late(records []record, e *record, missing int) (found []*record) {
	for i := 0; i < len(records) && len(found) < missing; i++ {
		r := &records[i]
		if numbered(r) && r.in == e.in && r.id > c.queues[e.in] && r.id < e.id {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *record) int { return cmp.Compare(a.id, b.id) })
	return found
}

func (c *collector) emitQueue(e *record, at int64) {
	c.queues[e.in] = max(c.queues[e.in], e.id)
	c.emit(e.event(at))
	e.hook = ""
}

// emit numbers an event, and adds it to state and lines.
func (c *collector) emit(e *Event) {
	c.seq++
	c.time = max(c.time, e.Time)
	e.Seq, e.Time = c.seq, c.time
	c.before(e, c.state)
	difference := c.state.Next(e)
	c.after(e)
	before := len(c.lines)
	c.lines = appendLine(c.lines, e, difference)
	c.since += len(c.lines) - before
	if c.seq-c.stateSeq < stateEvents || c.since < c.stateSize {
		return
	}
	c.write()
	whole := stateLine(c.seq, c.time, c.state)
	c.stateSeq, c.stateSize, c.since = c.seq, len(whole), 0
	c.history.begin(whole, c.seq)
	if c.file != nil {
		c.written(c.file.begin(whole))
	}
}

// lost adds trace.lost and ends the recording: the state after lost events is unknown.
func (c *collector) lost(lost map[string]uint64) {
	e := &Event{Time: c.time, Name: traceLost, Lost: lost}
	for _, n := range lost {
		e.N += int64(n)
	}
	e.Reason = fmt.Sprintf("%d events were lost: the buffer was full", e.N)
	c.emit(e)
	c.failed = errors.Join(c.failed, errors.New(e.Reason))
	c.endLocked(e.Reason)
}

// write passes the lines on.
func (c *collector) write() {
	if len(c.lines) == 0 {
		return
	}
	if c.file != nil {
		c.written(c.file.write(c.lines))
	}
	c.history.add(c.lines, c.seq)
	c.lines = c.lines[:0]
}

// written ends the file if it could not be written.
func (c *collector) written(err error) {
	if err != nil {
		c.failed = err
		_ = c.file.close()
		c.file = nil
	}
}

// end records why the recording ends, and closes the files, unless it has ended.
func (c *collector) end(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.endLocked(reason)
	}
}

func (c *collector) endLocked(reason string) {
	c.emit(&Event{Time: c.time, Name: traceEnd, Reason: clip(reason)})
	c.write()
	c.ended = true
	c.history.end()
	c.failed = errors.Join(c.failed, c.file.close())
	c.file = nil
}

func (c *collector) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// stateLine returns the line of a whole state.
func stateLine(seq uint64, time int64, s *State) []byte {
	return fmt.Appendf(nil, `{"s":%d,"t":%d,"state":%s}`+"\n", seq, time, encode(s))
}

// appendLine appends the line of an event.
func appendLine(lines []byte, e *Event, difference []byte) []byte {
	line := encode(e)
	lines = append(lines, line[:len(line)-1]...)
	if len(difference) > 0 {
		lines = append(append(lines, `,"diff":`...), difference...)
	}
	return append(lines, "}\n"...)
}

// The events of the recording itself.
const (
	traceLost = "trace.lost"
	traceEnd  = "trace.end"
)
