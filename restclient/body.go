package restclient

import (
	"context"
	"errors"
	"io"
	"time"
)

// body is the body of an answer. It restarts the silence timer, and marks errors of the connection,
// which distinguishes them from a decoder's. One goroutine reads it.
type body struct {
	io.ReadCloser
	silence *silence // nil for a watch
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && b.silence != nil {
		b.silence.timer.Reset(silenceTimeout)
	}
	if err != nil && err != io.EOF {
		err = &readError{err}
	}
	return n, err
}

// errSilence is the cause of a context that ended because nothing was received for too long.
var errSilence = errors.New("nothing has come for too long")

// silenceTimeout is the longest time in which nothing may come while an answer is awaited or read.
// It is for connections that no ping can prove dead and for servers that hang.
const silenceTimeout = 90 * time.Second

// silence ends an attempt when nothing is received for silenceTimeout: first the answer, then more
// of its body.
type silence struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil before begin
}

// newSilence returns a context that ends with the cause errSilence. The caller must call end.
func newSilence(ctx context.Context) (context.Context, *silence) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &silence{cancel: cancel}
}

// begin starts the timer, just before the request is sent: an exec plugin that prompts for a
// password runs before that and has its own time.
func (s *silence) begin() {
	s.timer = time.AfterFunc(silenceTimeout, func() { s.cancel(errSilence) })
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

// boundedReader limits what may be read for one value: a body, a list, or a value of a stream.
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
