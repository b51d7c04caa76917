package logs

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// sink passes lines on to a writer that may fail, or take for ever: a disk that is full, a pipe that nobody reads. It has a
// goroutine that writes, and whoever logs hands it a line and waits until that is out, so that after a crash the last line
// is there. But not longer than patience: a line must not hold up the work. While the writer is stuck, lines wait in a
// buffer of bounded size, and those that do not fit are dropped. So are those that the writer refuses. How many were lost
// is counted, and said in a line of its own when lines get through again.
type sink struct {
	writer io.Writer
	// notice is the line that says how many were lost.
	notice func(lost int64) []byte
	done   chan struct{} // closed when the goroutine has ended

	torn bool // of the goroutine alone: the last line that is out is not whole

	mu      sync.Mutex // guards the rest
	wake    *sync.Cond // signalled when there is something to write, or nothing more to come
	pending *batch     // what is to be written next
	stuck   bool       // somebody has waited in vain, and the writer has not caught up since
	closed  bool
	ended   bool  // what was lost last has been said, or nobody was there to hear it
	lost    int64 // not said yet
	total   int64 // lost since the beginning
}

// batch are the lines that are written at once.
type batch struct {
	text []byte
	// noticed is the number of lost lines that the line at its beginning speaks of; noticeEnd is where that ends.
	noticed   int64
	noticeEnd int
	done      chan struct{} // closed when all has been written or was refused
}

const (
	// patience is how long a line may hold up whoever logs it, once for each time that the writer is stuck.
	patience = 100 * time.Millisecond
	// mostPending is how much text waits for a writer that is stuck.
	mostPending = 256 << 10
	// keptBuffer is how large a buffer may be that is used again.
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

// Write takes one whole line. It never fails.
func (s *sink) Write(line []byte) (int, error) {
	if written, wait := s.add(line); wait {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-written:
		case <-timer.C:
			s.givenUp(written)
		}
	}
	return len(line), nil
}

// add puts the line into the buffer, if there is room. It returns what is closed when it has been written, and whether it
// is worth waiting for that.
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

// sayLostLocked adds the line that says how many were lost, at the place where they would be. A batch has one such line at
// most, and at its beginning: what is lost while a batch is being collected does not fit, and so nothing else fits either,
// or fits by chance, and then the next batch tells of it.
func (s *sink) sayLostLocked() {
	b := s.pending
	if len(b.text) > 0 {
		return
	}
	b.text = append(b.text, s.notice(s.lost)...)
	b.noticed, b.noticeEnd = s.lost, len(b.text)
	s.lost = 0
}

// givenUp notes that somebody has waited in vain, unless the lines have been written just now.
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
		s.settle(b, s.write(b.text))
		if spare = b.text; cap(spare) > keptBuffer {
			spare = nil
		}
	}
}

// take waits for something to write. It returns nil when nothing more is to come.
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

// write returns how much of the text got out. A line that was torn before is ended first, so that it spoils no other.
func (s *sink) write(text []byte) int {
	if s.torn {
		if n, err := s.writer.Write([]byte("\n")); n == 0 || err != nil {
			return 0
		}
		s.torn = false
	}
	n, _ := s.writer.Write(text) // what has not been written is lost, whatever the reason
	n = max(0, min(n, len(text)))
	s.torn = n > 0 && text[n-1] != '\n'
	return n
}

// settle counts what was lost of a batch, and lets those go on who wait for it.
func (s *sink) settle(b *batch, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < b.noticeEnd {
		s.lost += b.noticed
	}
	begin := bytes.LastIndexByte(b.text[:n], '\n') + 1 // of the first line that is not out
	lost := int64(bytes.Count(b.text[max(begin, b.noticeEnd):], []byte("\n")))
	s.lost += lost
	s.total += lost
	if len(s.pending.text) == 0 {
		s.stuck = false // the writer has caught up
	}
	close(b.done)
}

// dropped is how many lines were lost since the beginning.
func (s *sink) dropped() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// close has written what waits, for at most that long. Lines that come later are lost. If the writer is stuck for good the
// goroutine stays: nothing can be done about it but to end the process, which is what comes next.
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
