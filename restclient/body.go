package restclient

import (
	"context"
	"errors"
	"io"
	"time"
)

// body is the body of an answer. It counts the bytes read, restarts the silence timer, and marks
// errors of the connection, which distinguishes them from a decoder's. One goroutine reads it.
type body struct {
	io.ReadCloser
	silence *silence // nil for a watch
	n       int
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n += n
	if n > 0 && b.silence != nil {
		b.silence.restart()
	}
	if err != nil && err != io.EOF {
		err = &readError{err}
	}
	return n, err
}

// errSilence is the cause of a context that ended because nothing was received for too long.
var errSilence = errors.New("nothing has come for too long")

// silence ends an attempt when nothing is received for limit: first the answer, then more of its
// body.
type silence struct {
	limit  time.Duration // not positive: no limit
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil before begin, and without a limit
}

// newSilence returns a context that ends with the cause errSilence. The caller must call end.
func newSilence(ctx context.Context, limit time.Duration) (context.Context, *silence) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &silence{limit: limit, cancel: cancel}
}

// begin starts the timer, just before the request is sent: an exec plugin that prompts for a
// password runs before that and has its own time.
func (s *silence) begin() {
	if s.limit > 0 {
		s.timer = time.AfterFunc(s.limit, func() { s.cancel(errSilence) })
	}
}

func (s *silence) restart() {
	if s.timer != nil {
		s.timer.Reset(s.limit)
	}
}

// stop stops the timer without ending the context: the body of a watch may be silent.
func (s *silence) stop() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// end stops the timer and ends the context.
func (s *silence) end() {
	s.stop()
	s.cancel(nil)
}

// boundedReader limits what may be read for one value: a body, a list, or what a json.Decoder reads
// for a value of a stream, and with it the decoder's memory.
type boundedReader struct {
	r     io.Reader
	limit int
	what  string // what a value is called in errors
	left  int
}

// bounded returns a reader of one value. It fails at the byte after the limit.
func bounded(r io.Reader, limit int, what string) *boundedReader {
	return &boundedReader{r: r, limit: limit, what: what, left: limit + 1}
}

// allow grants the bytes for one more value, and a few for white space before it.
func (b *boundedReader) allow() { b.left = b.limit + 512 }

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.tooLarge()
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	if b.left == 0 && err == io.EOF {
		err = nil // the next Read says that there was too much
	}
	return n, err
}

func (b *boundedReader) tooLarge() error { return &TooLargeError{What: b.what, Limit: b.limit} }
