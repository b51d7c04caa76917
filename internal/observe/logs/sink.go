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
// While the writer is stuck, lines of at most 256 KiB wait. Lines that do not fit and lines that
// the writer refuses are dropped and counted. When lines get through again, one of them gives the
// number of lost lines.
type sink struct {
	writer io.Writer
	// notice returns the line about lost lines.
	notice func(lost int64) []byte
	lines  chan *pendingLine
	done   chan struct{} // closed when the goroutine has ended

	torn bool // used by the goroutine only: the last written line is incomplete

	mu      sync.Mutex // guards the fields below
	stuck   bool       // a Write has timed out, and the writer has not caught up since
	closed  bool
	pending int   // bytes that wait
	lost    int64 // lines that no notice has reported
	total   int64 // all lost lines
}

// pendingLine is a line that waits for the writer.
type pendingLine struct {
	text []byte
	lost int64         // lines before it that no notice has reported
	done chan struct{} // closed when the line has been written or refused
}

const (
	// writeTimeout is how long Write blocks when the writer gets stuck; it does not block again
	// until the writer has caught up.
	writeTimeout = 100 * time.Millisecond
	// At most so many lines wait for a stuck writer, and so many bytes of them.
	mostPending      = 1024
	mostPendingBytes = 256 << 10
)

// newSink starts the goroutine, which close ends.
func newSink(writer io.Writer, notice func(lost int64) []byte) *sink {
	s := &sink{writer: writer, notice: notice, done: make(chan struct{}), lines: make(chan *pendingLine, mostPending)}
	go s.run()
	return s
}

// Write accepts one complete line. It always returns a nil error.
func (s *sink) Write(text []byte) (int, error) {
	line := &pendingLine{text: bytes.Clone(text), done: make(chan struct{})}
	if s.add(line) {
		timer := time.NewTimer(writeTimeout)
		defer timer.Stop()
		select {
		case <-line.done:
		case <-timer.C:
			s.givenUp(line)
		}
	}
	return len(text), nil
}

// add queues a line, if there is room, and reports whether to wait until it has been written.
func (s *sink) add(line *pendingLine) (wait bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line.lost = s.lost
	if fits := s.pending+len(line.text) <= mostPendingBytes; !s.closed && fits {
		select {
		case s.lines <- line:
			s.pending += len(line.text)
			s.lost = 0
			return !s.stuck
		default:
		}
	}
	s.lost++
	s.total++
	return false
}

// givenUp marks the writer as stuck, unless the line has just been written.
func (s *sink) givenUp(line *pendingLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-line.done:
	default:
		s.stuck = true
	}
}

// run writes line after line until close, and then how many were lost at the end.
func (s *sink) run() {
	defer close(s.done)
	for line := range s.lines {
		reported := line.lost == 0 || s.write(s.notice(line.lost))
		s.written(line, reported, s.write(line.text))
	}
	s.mu.Lock()
	lost := s.lost
	s.mu.Unlock()
	if lost > 0 {
		s.write(s.notice(lost))
	}
}

// write reports whether all of a line was written. It first ends an incomplete line, so that this
// one starts on its own.
func (s *sink) write(text []byte) bool {
	if s.torn {
		if n, err := s.writer.Write([]byte("\n")); n == 0 || err != nil {
			return false
		}
		s.torn = false
	}
	n, _ := s.writer.Write(text) // the rest is lost, whatever the error
	s.torn = n > 0 && n < len(text)
	return n >= len(text)
}

// written counts the lines that were lost, and releases the goroutine that waits for the line.
func (s *sink) written(line *pendingLine, reported, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !reported {
		s.lost += line.lost
	}
	if !whole {
		s.lost++
		s.total++
	}
	s.pending -= len(line.text)
	if len(s.lines) == 0 {
		s.stuck = false // the writer has caught up
	}
	close(line.done)
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
	if !s.closed {
		s.closed = true
		close(s.lines)
	}
	s.mu.Unlock()
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
	}
}
