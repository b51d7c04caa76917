package restclient

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"orrery/restclient/api"
	"orrery/wait"
)

// newLimiter returns nil, which means no limit, for a negative rate.
func newLimiter(qps float32, burst int) *rate.Limiter {
	if qps < 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(qps), burst)
}

// throttle waits for the rate limit.
func (x *exchange) throttle(ctx context.Context, u *url.URL, attempt int) error {
	waited, err := takeToken(ctx, x.client.limiter)
	x.last.Limited, x.last.Waited = true, waited
	if err != nil {
		return x.broken(ctx, u, fmt.Errorf("while waiting for the rate limit of %v requests per second: %w",
			x.client.cfg.QPS, err))
	}
	if t := x.client.cfg.Trace; waited > 0 && t != nil && t.Throttled != nil {
		t.Throttled(x.req.info(attempt), waited)
	}
	return nil
}

// takeToken blocks until the request may be sent, and returns how long that is. A request whose
// context ends, or whose deadline is known to come first, returns its token.
func takeToken(ctx context.Context, limiter *rate.Limiter) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	token := limiter.Reserve()
	delay := token.Delay()
	if delay == 0 {
		return 0, nil
	}
	if endsBefore(ctx, delay) {
		token.Cancel()
		return delay, context.DeadlineExceeded
	}
	api.Throttled(ctx, delay)
	if err := wait.Sleep(ctx, delay); err != nil {
		token.Cancel()
		return delay, err
	}
	return delay, nil
}

// Attempts that the server did not ask for are fewer and closer together. The callers (a reflector,
// a work queue) have a slower back-off of their own.
const (
	unaskedRetries = 4
	unaskedPause   = 100 * time.Millisecond
)

// failure describes a failed attempt.
type failure struct {
	err        error
	asked      bool          // the server sent a Retry-After header
	retryAfter time.Duration // its value
}

// next returns how long to wait before attempt number attempt+1; again is false if there is none.
// The rules are in the package documentation under Failure.
func (x *exchange) next(attempt int, f failure) (wait time.Duration, again bool) {
	if attempt > max(x.client.cfg.MaxRetries, 0) {
		return 0, false
	}
	var refused *api.StatusError
	errors.As(f.err, &refused)
	if f.asked && refused != nil && retryable(refused.Status.Code) {
		wait = max(f.retryAfter, unaskedPause) // "0" and dates in the past must not make a busy loop
		return wait, wait <= x.client.cfg.MaxRetryAfter
	}
	if x.req.about.Verb == "watch" || x.unasked >= unaskedRetries || !repeatUnasked(&x.req, refused, f.err) {
		return 0, false
	}
	return pause(x.unasked), true
}

// repeatUnasked holds the cases in which a repetition can do no harm although the server did not
// ask for it: it refused to begin (429), or nothing can have changed (safe methods).
func repeatUnasked(req *Request, refused *api.StatusError, err error) bool {
	if refused != nil {
		return refused.Status.Code == http.StatusTooManyRequests || req.safe() && retryable(refused.Status.Code)
	}
	var broken *TransportError
	return req.safe() && errors.As(err, &broken) && (broken.Kind == ConnectionLost || broken.Kind == ConnectionFailed)
}

// retryable reports whether a code says "not now" rather than "no".
func retryable(code int) bool {
	return code == http.StatusTooManyRequests || code >= 500 && code != http.StatusNotImplemented
}

func pause(n int) time.Duration {
	d := unaskedPause << n
	return d + rand.N(d/2)
}

// parseRetryAfter reads a Retry-After header (RFC 9110 section 10.2.3): whole seconds, or an HTTP
// date, which is compared with the server's own clock (its Date header) where it sends one, so that
// clocks that differ do no harm.
func parseRetryAfter(header http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if value == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	when, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	if serverNow, err := http.ParseTime(header.Get("Date")); err == nil {
		now = serverNow
	}
	return max(when.Sub(now), 0), true
}

// beforeNext waits before the next attempt. It returns the error of the request if there is none.
func (x *exchange) beforeNext(ctx context.Context, u *url.URL, attempt int, f failure) error {
	if x.renewCredentials(f.err) {
		x.repeat(attempt, 0, f.err)
		return nil
	}
	pause, again := x.next(attempt, f)
	if !again || api.IsSingleAttempt(ctx) || endsBefore(ctx, pause) {
		return f.err
	}
	if !f.asked {
		x.unasked++
	}
	x.repeat(attempt, pause, f.err)
	if err := wait.Sleep(ctx, pause); err != nil {
		return x.broken(ctx, u, fmt.Errorf("%w while waiting to repeat it; the last attempt failed: %v", err, f.err))
	}
	return nil
}

// endsBefore reports whether the context's deadline is before the end of the wait.
func endsBefore(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < wait
}

func (x *exchange) repeat(attempt int, wait time.Duration, err error) {
	if t := x.client.cfg.Trace; t != nil && t.Retry != nil {
		t.Retry(x.req.info(attempt), wait, err)
	}
}

// renewCredentials is called after a failed attempt. After a 401 it drops cached credentials and
// reports whether there are new ones, so that one more attempt is worthwhile.
func (x *exchange) renewCredentials(err error) bool {
	credentials := x.client.cfg.Credentials
	if credentials == nil || api.CodeOf(err) != http.StatusUnauthorized {
		return false
	}
	credentials.Unauthorized(x.sent)
	if x.renewed {
		return false
	}
	x.renewed = true
	if x.client.pool.renewIfChanged() {
		return true
	}
	probe := x.sent.Clone(x.sent.Context())
	probe.Header.Del("Authorization")
	if err := credentials.Apply(probe); err != nil {
		return false
	}
	return probe.Header.Get("Authorization") != x.sent.Header.Get("Authorization")
}
