package chaos

import (
	"bufio"
	"io"
)

// rewrittenStream is the body of a watch with a door's faults. Only one goroutine may read it.
type rewrittenStream struct {
	io.ReadCloser // the body
	in            *bufio.Reader
	framing       framing
	socket        bool
	faults        *httpFaults

	pending []byte // next bytes
	atATime int    // largest read; 0: no limit
	failed  error  // the error after pending
	changes int
}

// newRewrittenStream rewrites body.
func newRewrittenStream(body io.ReadCloser, framing framing, socket bool, faults *httpFaults) *rewrittenStream {
	return &rewrittenStream{
		ReadCloser: body, in: bufio.NewReaderSize(body, 64<<10), framing: framing, socket: socket, faults: faults,
	}
}

func (s *rewrittenStream) Read(p []byte) (int, error) {
	for len(s.pending) == 0 {
		if s.failed != nil {
			return 0, s.failed
		}
		s.fill()
	}
	if pieces := s.atATime; pieces > 0 && len(p) > pieces {
		p = p[:pieces]
	}
	n := copy(p, s.pending)
	s.pending = s.pending[n:]
	return n, nil
}

// Write passes a websocket's other direction through.
func (s *rewrittenStream) Write(p []byte) (int, error) {
	return s.ReadCloser.(io.Writer).Write(p)
}

// fill reads the next message and applies the faults.
func (s *rewrittenStream) fill() {
	frame, err := s.framing.read(s.in)
	if err != nil {
		s.pending, s.failed = frame, err
		return
	}
	faults := s.faults.streams()
	s.atATime = faults.pieces
	switch kind := kindOf(frame); {
	case s.socket && isSocketControl(frame):
		s.pending = frame
	case kind == changeFrame:
		s.fillChange(frame, faults)
	case kind == bookmarkFrame && faults.withholdBookmarks:
		s.faults.hit()
	case kind == bookmarkFrame && faults.emptyBookmarks:
		s.pending = s.framing.withoutVersion(frame)
		s.faults.hit()
	default:
		s.pending = frame
	}
}

func (s *rewrittenStream) fillChange(frame []byte, faults streamFaults) {
	s.changes++
	due := func(every int) bool { return every > 0 && s.changes%every == 0 }
	s.pending = append(s.pending[:0:0], frame...)
	if due(faults.duplicateEvery) {
		s.pending = append(s.pending, frame...)
		s.faults.hit()
	}
	switch {
	case due(faults.errorAfter):
		s.pending, s.failed = append(s.pending, s.framing.failure(faults.errorCode)...), io.EOF
		s.faults.hit()
	case due(faults.breakAfter):
		s.pending, s.failed = s.pending[:len(s.pending)-len(frame)/2], io.ErrUnexpectedEOF
		s.faults.hit()
	case due(faults.endAfter):
		s.failed = io.EOF
		s.faults.hit()
	}
}
