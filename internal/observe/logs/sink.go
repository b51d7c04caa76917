package logs

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// sink passes lines on to a writer that may fail or hang, such as a full disk or a pipe without a
// reader. Its goroutine writes. Write waits until the line has been written, so that a crash loses
// no line, but at most writeTimeout, so that logging does not stop the work.
//
// While the writer is stuck, lines wait in a bounded buffer. Lines that do not fit and lines that
// the writer refuses are dropped and counted. When lines get through again, one of them gives the
// number of lost lines.
type sink struct {
	writer io.Writer
	// notice returns the line about lost lines.
	notice func(lost int64) []byte
	done   chan struct{} // closed when the goroutine has ended

	torn bool // used by the goroutine only: the last written line is incomplete

	mu      sync.Mutex // guards the fields below
	wake    *sync.Cond // signalled when there is something to write, and by close
	pending *batch     // written next
	stuck   bool       // a Write has timed out, and the writer has not caught up since
	closed  bool
	ended   bool  // the last notice has been written, or could not be
	lost    int64 // lines that no notice has reported
	total   int64 // all lost lines
}

// batch holds lines that are written together.
type batch struct {
	text []byte
	// noticed is the number of lost lines in the notice at the beginning; noticeEnd is where the
	// notice ends.
	noticed   int64
	noticeEnd int
	done      chan struct{} // closed when the batch has been written or refused
}

const (
	// writeTimeout is how long Write blocks when the writer gets stuck; it does not block again
	// until the writer has caught up.
	writeTimeout = 100 * time.Millisecond
	// mostPending is how many bytes wait for a stuck writer.
	mostPending = 256 << 10
	// keptBuffer is the size of the largest buffer that is reused.
	keptBuffer = 16 << 10
)

// newSink starts the goroutine, which close ends.
func newSink(writer io.Writer, notice func(lost int64) []byte) *sink {
	s := &sink{writer: writer, notice: notice, done: make(chan struct{}), pending: newBatch(nil)}
	s.wake = sync.NewCond(&s.mu)
	go s.run()
	return s
}

func newBatch(buffer []byte) *batch {
	return &batch{text: buffer[:0], done: make(chan struct{})}
}

// Write accepts one complete line. It always returns a nil error.
func (s *sink) Write(line []byte) (int, error) {
	if written, wait := s.add(line); wait {
		timer := time.NewTimer(writeTimeout)
		defer timer.Stop()
		select {
		case <-written:
		case <-timer.C:
			s.givenUp(written)
		}
	}
	return len(line), nil
}

// add puts the line into the buffer, if there is room. It returns a channel that is closed when the
// line has been written, and whether to wait for it.
func (s *sink) add(line []byte) (written <-chan struct{}, wait bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.pending.text)+len(line) > mostPending {
		s.lost++
		s.total++
		return nil, false
	}
	if s.lost > 0 {
		s.sayLostLocked()
	}
	s.pending.text = append(s.pending.text, line...)
	s.wake.Signal()
	return s.pending.done, !s.stuck
}

// sayLostLocked adds the notice about lost lines where they would be. A batch has one notice at
// most, at its beginning. A line is lost while a batch is collected only if the batch is full; then
// the next batch reports it.
func (s *sink) sayLostLocked() {
	b := s.pending
	if len(b.text) > 0 {
		return
	}
	b.text = append(b.text, s.notice(s.lost)...)
	b.noticed, b.noticeEnd = s.lost, len(b.text)
	s.lost = 0
}

// givenUp marks the writer as stuck, unless the line has just been written.
func (s *sink) givenUp(written <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-written:
	default:
		s.stuck = true
	}
}

// run writes batch after batch.
func (s *sink) run() {
	defer close(s.done)
	var spare []byte
	for {
		b := s.take(spare)
		if b == nil {
			return
		}
		s.complete(b, s.write(b.text))
		if spare = b.text; cap(spare) > keptBuffer {
			spare = nil
		}
	}
}

// take blocks until there is something to write. It returns nil after close, when everything has
// been taken.
func (s *sink) take(spare []byte) *batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.pending.text) == 0 && !s.closed {
		s.wake.Wait()
	}
	if s.closed && len(s.pending.text) == 0 && s.lost > 0 && !s.ended {
		s.ended = true
		s.sayLostLocked()
	}
	b := s.pending
	if len(b.text) == 0 {
		return nil
	}
	s.pending = newBatch(spare)
	return b
}

// write returns how many bytes were written. It first ends an incomplete line, so that the next one
// starts on its own.
func (s *sink) write(text []byte) int {
	if s.torn {
		if n, err := s.writer.Write([]byte("\n")); n == 0 || err != nil {
			return 0
		}
		s.torn = false
	}
	n, _ := s.writer.Write(text) // the rest is lost, whatever the error
	n = max(0, min(n, len(text)))
	s.torn = n > 0 && text[n-1] != '\n'
	return n
}

// complete counts the lost lines of a batch of which n bytes were written, and releases the
// goroutines that wait for it.
func (s *sink) complete(b *batch, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < b.noticeEnd {
		s.lost += b.noticed
	}
	begin := bytes.LastIndexByte(b.text[:n], '\n') + 1 // of the first line that was not written
	lost := int64(bytes.Count(b.text[max(begin, b.noticeEnd):], []byte("\n")))
	s.lost += lost
	s.total += lost
	if len(s.pending.text) == 0 {
		s.stuck = false // the writer has caught up
	}
	close(b.done)
}

// dropped returns how many lines have been lost.
func (s *sink) dropped() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// close writes what waits, for at most the time atMost. Later lines are lost. If the writer never
// returns, the goroutine stays until the process ends.
func (s *sink) close(atMost time.Duration) {
	s.mu.Lock()
	s.closed = true
	s.wake.Signal()
	s.mu.Unlock()
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
	}
}
