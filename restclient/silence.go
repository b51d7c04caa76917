package restclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// errSilence is why an attempt is given up on which nothing comes.
var errSilence = errors.New("nothing has come for too long")

// silence ends an attempt when nothing comes for the length of limit: no answer, and then no more of its body.
type silence struct {
	limit  time.Duration // not positive: none
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil before begin, and without a limit
}

// newSilence returns a context that ends, with errSilence as its cause, when there is too much of it. end frees it.
func newSilence(ctx context.Context, limit time.Duration) (context.Context, *silence) {
	s := &silence{limit: limit}
	if limit > 0 {
		ctx, s.cancel = context.WithCancelCause(ctx)
	}
	return ctx, s
}

// begin is called when the request is about to be sent: what comes before (a plugin that asks a person for a password) has
// its own time.
func (s *silence) begin() {
	if s.limit > 0 {
		s.timer = time.AfterFunc(s.limit, func() { s.cancel(errSilence) })
	}
}

// end stops counting and ends the context.
func (s *silence) end() {
	if s.timer != nil {
		s.timer.Stop()
	}
	if s.cancel != nil {
		s.cancel(nil)
	}
}

// answered counts anew, from the beginning of the answer on. That of a watch may be silent: the pings, and whoever reads
// it, have their own idea of that.
func (s *silence) answered(answer *http.Response, endless bool) {
	switch {
	case s.timer == nil:
	case endless:
		s.timer.Stop()
	default:
		s.timer.Reset(s.limit)
		answer.Body = &silentBody{ReadCloser: answer.Body, silence: s}
	}
}

// silentBody is a body that counts its silence.
type silentBody struct {
	io.ReadCloser
	silence *silence
}

func (b *silentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.silence.timer.Reset(b.silence.limit)
	}
	return n, err
}
