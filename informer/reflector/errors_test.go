package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/restclient/api"
)

func refusal(code int, reason api.StatusReason, causes ...api.StatusCause) error {
	s := api.Status{Code: code, Reason: reason}
	if len(causes) > 0 {
		s.Details = &api.StatusDetails{Causes: causes}
	}
	return api.NewStatusError(s)
}

// later adds a Retry-After to a refusal.
func later(err error) error {
	err.(*api.StatusError).RetryAfter = time.Second
	return err
}

func TestCauseOf(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want Cause
	}{
		{"410 by code alone", refusal(410, ""), CauseExpired},
		{"410 by reason Expired", refusal(0, api.ReasonExpired), CauseExpired},
		{"410 by reason Gone", refusal(0, api.ReasonGone), CauseExpired},
		{"wrapped", fmt.Errorf("while listing: %w", refusal(410, "")), CauseExpired},
		{"too large", refusal(504, api.ReasonTimeout, api.StatusCause{Type: api.CauseResourceVersionTooLarge}),
			CauseTooLarge},
		{"a timeout of the server", refusal(504, api.ReasonTimeout), CauseOther},
		{"429", refusal(429, ""), CauseTooManyRequests},
		{"500", refusal(500, api.ReasonInternalError), CauseInternal},
		{"500 with Retry-After", later(refusal(500, api.ReasonServerTimeout)), CauseTooManyRequests},
		{"503 with Retry-After", fmt.Errorf("watch: %w", later(refusal(503, ""))), CauseTooManyRequests},
		{"too large, and says when to come back", later(refusal(504, api.ReasonTimeout,
			api.StatusCause{Type: api.CauseResourceVersionTooLarge})), CauseTooLarge},
		{"403 with Retry-After", later(refusal(403, "")), CauseOther},
		{"400", refusal(400, ""), CauseRefused},
		{"405", refusal(405, ""), CauseRefused},
		{"406", refusal(406, ""), CauseRefused},
		{"415", refusal(415, ""), CauseRefused},
		{"422", refusal(422, api.ReasonInvalid), CauseRefused},
		{"403", refusal(403, api.ReasonForbidden), CauseOther},
		{"503", refusal(503, ""), CauseOther},
		{"no listener", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, CauseUnreachable},
		{"bare errno", syscall.ECONNRESET, CauseUnreachable},
		{"as an HTTP client wraps it", &url.Error{Op: "Get", URL: "https://x", Err: io.EOF}, CauseUnreachable},
		{"unknown host", &net.DNSError{Name: "x"}, CauseUnreachable},
		{"a time limit", context.DeadlineExceeded, CauseUnreachable},
		{"cut in the middle of an event", fmt.Errorf("decoding: %w", io.ErrUnexpectedEOF), CauseUnreachable},
		{"closed under the reader", net.ErrClosed, CauseUnreachable},
		{"closed pipe", io.ErrClosedPipe, CauseUnreachable},
		{"good order", io.EOF, CauseEnded},
		{"garbage", errors.New("invalid character '<'"), CauseUnknown},
		{"what only the HTTP client has a name for", errors.New("http2: server sent GOAWAY and closed the connection"),
			CauseUnknown},
		{"the same, from a client that knows",
			reported{errors.New("http2: server sent GOAWAY and closed the connection"), true}, CauseUnreachable},
		{"a file with a token that is not there", fmt.Errorf("watch: %w", reported{syscall.ENOENT, false}),
			CauseUnknown},
	} {
		assert.Equal(t, test.want, CauseOf(test.err), test.name)
	}
}

// reported is an error of a client that classifies connection errors.
type reported struct {
	error
	unreachable bool
}

func (e reported) Unreachable() bool { return e.unreachable }
func (e reported) Unwrap() error     { return e.error }

// TestDelays: a wait of d lasts between d and d(1+jitter), d doubles up to the limit.
func TestDelays(t *testing.T) {
	for _, test := range []struct {
		name   string
		config BackoffConfig
		first  time.Duration
		last   time.Duration
		jitter float64
	}{
		{"defaults", BackoffConfig{}, 800 * time.Millisecond, 30 * time.Second, 1},
		{"without jitter", BackoffConfig{Jitter: -1}, 800 * time.Millisecond, 30 * time.Second, 0},
		{"half a jitter", BackoffConfig{Initial: time.Second, Max: 4 * time.Second, Jitter: 0.5}, time.Second,
			4 * time.Second, 0.5},
		{"a limit below the beginning", BackoffConfig{Initial: time.Minute}, time.Minute, time.Minute, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 20 {
				delays := test.config.Delays()
				least := test.first
				for range 20 {
					got := delays.NextBackOff()
					const rounding = time.Microsecond
					assert.GreaterOrEqual(t, got, least-rounding)
					assert.LessOrEqual(t, got, time.Duration(float64(least)*(1+test.jitter))+rounding)
					least = min(least*2, test.last)
				}
				delays.Reset()
				assert.LessOrEqual(t, delays.NextBackOff(),
					time.Duration(float64(test.first)*(1+test.jitter))+time.Microsecond)
			}
		})
	}
}

func TestErrorsNameThePhaseAndWrapTheCause(t *testing.T) {
	cause := refusal(410, api.ReasonExpired)
	for _, test := range []struct {
		err  error
		want string
	}{
		{&ListError{Name: "pods", ResourceVersion: "7", Page: 2, Err: cause},
			`failed to list pods at resourceVersion "7" (page 2): the server answered 410 Expired`},
		{&WatchStartError{Name: "pods", ResourceVersion: "7", Err: cause},
			`failed to open a watch of pods at resourceVersion "7": the server answered 410 Expired`},
		{&WatchStartError{Name: "pods", Streaming: true, Err: cause},
			`failed to open a streaming list of pods at resourceVersion "": the server answered 410 Expired`},
		{&StreamError{Name: "pods", ResourceVersion: "8", Err: cause},
			`the watch of pods ended at resourceVersion "8": the server answered 410 Expired`},
		{&StreamError{Name: "pods", Streaming: true, Err: cause},
			`the streaming list of pods ended at resourceVersion "": the server answered 410 Expired`},
		{&StoreError{Name: "pods", Op: OpReplace, ResourceVersion: "8", Err: cause},
			`the store of pods failed to Replace at resourceVersion "8": the server answered 410 Expired`},
	} {
		assert.EqualError(t, test.err, test.want)
		assert.True(t, api.IsExpired(test.err), "%T hides its cause", test.err)
		assert.Equal(t, CauseExpired, CauseOf(test.err), "%T hides its cause", test.err)
	}
}
