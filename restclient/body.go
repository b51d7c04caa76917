package restclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"orrery/restclient/api"
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

// readError marks an error of the connection, as opposed to one of the received bytes.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// brokenBody returns the connection's error that a decoder returned, or nil. A body that ends
// inside a value is a broken connection.
func brokenBody(err error) error {
	if read, ok := errors.AsType[*readError](err); ok {
		return read.err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.ErrUnexpectedEOF
	}
	return nil
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
	s := &silence{limit: limit}
	if limit > 0 {
		ctx, s.cancel = context.WithCancelCause(ctx)
	}
	return ctx, s
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
	if s.cancel != nil {
		s.cancel(nil)
	}
}

// Response is an answer whose body was read and closed. Pass a *Response to [Client.Do] to receive
// the answer undecoded.
type Response struct {
	StatusCode  int
	Header      http.Header
	ContentType string // media type with parameters, as the server sent it
	Body        []byte
}

// readInto reads a whole body into the value that the caller of Do passed.
func (x *exchange) readInto(answer *http.Response, into any) error {
	limit := cmp.Or(x.req.MaxBytes, x.client.cfg.MaxBodyBytes)
	if into == nil {
		_, err := io.Copy(io.Discard, io.LimitReader(answer.Body, int64(limit)))
		return err
	}
	data, err := readBounded(answer.Body, limit)
	if err != nil {
		return err
	}
	switch into := into.(type) {
	case *[]byte:
		*into = data
	case *Response:
		*into = Response{
			StatusCode: answer.StatusCode, Header: answer.Header,
			ContentType: answer.Header.Get("Content-Type"), Body: data,
		}
	default:
		if len(data) == 0 && answer.StatusCode == http.StatusNoContent {
			return nil
		}
		return api.Unmarshal(data, into)
	}
	return nil
}

// readBounded reads a whole body of at most limit bytes.
func readBounded(r io.Reader, limit int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > limit {
		return nil, &TooLargeError{What: "the body", Limit: limit}
	}
	return data, nil
}

// listBody is the body of a list, of at most MaxListBytes.
type listBody struct {
	io.Reader
	limit, n int
}

func (b *listBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.n += n; b.n > b.limit {
		return 0, &TooLargeError{What: "the list", Limit: b.limit}
	}
	return n, err
}

// boundedReader limits what a json.Decoder may read for one value, and with it the decoder's
// memory.
type boundedReader struct {
	r     io.Reader
	limit int
	what  string // what a value is called in errors
	left  int
}

// allow grants the bytes for one more value, and a few for white space before it.
func (b *boundedReader) allow() { b.left = b.limit + 512 }

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.tooLarge()
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func (b *boundedReader) tooLarge() error { return &TooLargeError{What: b.what, Limit: b.limit} }

// unreadable turns the error of a consume function into the caller's error.
func (x *exchange) unreadable(ctx context.Context, u *url.URL, err error) error {
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*api.StatusError](err); ok {
		return refused
	}
	if cause := brokenBody(err); cause != nil {
		return x.broken(ctx, u, fmt.Errorf("while reading the answer: %w", cause))
	}
	return &DecodeError{Verb: x.req.method(), URL: redactURL(u), Err: err}
}
