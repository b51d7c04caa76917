package restclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"orrery/restclient/api"
	"orrery/wait"
)

// exchange is one request with its attempts, from the rate limit to the decoded answer.
type exchange struct {
	client *Client
	req    Request

	// consume reads the body of a 2xx answer. If it fails, the attempt has failed.
	consume func(*http.Response) error
	// send makes one attempt. Nil: HTTP over the client's connections. A websocket handshake sets
	// its own.
	send func(*http.Request) (*http.Response, error)
	// endless requests (watches) are exempt from the rate limit and the timeout. Their bodies stay
	// open.
	endless bool

	sent    *http.Request // the last attempt
	date    string        // of the last answer, by the server's clock
	renewed bool          // credentials have been renewed once
	unasked int           // retries without a Retry-After

	// The last attempt, for the trace.
	attempts int
	last     RequestResult
	answer   *body // of the last attempt; nil: no answer
}

// run makes the request and reports its end to the trace.
func (x *exchange) run(ctx context.Context) error {
	t := x.client.cfg.Trace
	if t == nil || t.Finished == nil || x.endless {
		return x.repeatedly(ctx)
	}
	started := time.Now()
	err := x.repeatedly(ctx)
	x.last.Duration, x.last.Err = time.Since(started), err
	t.Finished(x.req.info(x.attempts), x.last)
	return err
}

// repeatedly makes attempts until one succeeds or the retry policy gives up.
func (x *exchange) repeatedly(ctx context.Context) error {
	x.client.pool.connections.use()
	defer x.client.pool.connections.release()
	u, err := x.req.url(x.client.base)
	if err != nil {
		return &TransportError{Kind: RequestInvalid, Verb: x.req.method(), URL: redactURL(x.client.base), Err: err}
	}
	if x.client.cfg.Trace != nil {
		x.req.origin, x.req.id = OriginOf(ctx), requestIDs.Add(1)
	}
	for attempt := 1; ; attempt++ {
		if err := x.throttle(ctx, u, attempt); err != nil {
			return err
		}
		f := x.attempt(ctx, u, attempt)
		if f.err == nil {
			return nil
		}
		if x.renewCredentials(f.err) {
			x.repeat(attempt, 0, f.err)
			continue
		}
		wait, again := x.client.retry.next(&x.req, attempt, x.unasked, f)
		if !again || api.IsSingleAttempt(ctx) || endsBefore(ctx, wait) {
			return x.giveUp(attempt, f.err)
		}
		if err := x.pause(ctx, u, attempt, wait, f); err != nil {
			return err
		}
	}
}

func (x *exchange) timeLimit() time.Duration {
	if x.endless {
		return 0
	}
	return x.client.cfg.Timeout
}

func (x *exchange) throttle(ctx context.Context, u *url.URL, attempt int) error {
	if x.endless || x.client.limiter == nil {
		return nil
	}
	waited, err := takeToken(ctx, x.client.limiter)
	x.last.Limited, x.last.Waited = true, waited
	if err != nil {
		return x.broken(ctx, u, fmt.Errorf("while waiting for the rate limit of %v requests per second: %w", x.client.cfg.QPS, err))
	}
	if waited > 0 {
		x.client.throttled.Add(1)
		if t := x.client.cfg.Trace; t != nil && t.Throttled != nil {
			t.Throttled(x.req.info(attempt), waited)
		}
	}
	return nil
}

func (x *exchange) pause(ctx context.Context, u *url.URL, attempt int, pause time.Duration, f failure) error {
	if !f.asked {
		x.unasked++
	}
	x.repeat(attempt, pause, f.err)
	if err := wait.Sleep(ctx, pause); err != nil {
		return x.broken(ctx, u, fmt.Errorf("%w while waiting to repeat it; the last attempt failed: %v", err, f.err))
	}
	return nil
}

// endsBefore reports whether the context's deadline is before the end of the wait. Returning the
// server's error then is better than waiting for the deadline.
func endsBefore(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < wait
}

// repeat counts and reports a retry.
func (x *exchange) repeat(attempt int, wait time.Duration, err error) {
	x.client.retries.Add(1)
	if t := x.client.cfg.Trace; t != nil && t.Retry != nil {
		t.Retry(x.req.info(attempt), wait, err)
	}
}

// attempt sends the request once and consumes its answer. It closes the body, unless the exchange
// is endless and succeeded.
func (x *exchange) attempt(ctx context.Context, u *url.URL, attempt int) (f failure) {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if limit := x.timeLimit(); limit > 0 {
		limited, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	limited, silence := newSilence(limited, x.client.cfg.SilenceTimeout)
	defer func() {
		if !x.endless || f.err != nil {
			silence.end() // the stream of a watch outlives the attempt
		}
	}()

	started, code := x.begin(attempt), 0
	defer func() {
		f.err = x.censored(f.err)
		x.done(attempt, code, started, f.err)
	}()

	answer, err := x.roundTrip(limited, u, silence)
	if err != nil {
		return failure{err: x.broken(limited, u, err)}
	}
	code, x.date = answer.StatusCode, answer.Header.Get("Date")
	x.answer = &body{ReadCloser: answer.Body, silence: silence}
	answer.Body = x.answer
	accepted := code/100 == 2 || code == http.StatusSwitchingProtocols && x.send != nil
	switch {
	case x.endless && accepted: // a watch may be silent; pings or the caller detect a dead connection
		x.answer.silence = nil
		silence.stop()
	case x.endless: // no Timeout applies: the whole refusal must come in the time of one silence
		x.answer.silence = nil
		silence.restart()
	default:
		silence.restart()
	}
	for _, w := range parseWarnings(answer.Header) {
		w.Text, w.Origin = api.CutText(x.censor(nil).text(w.Text)), OriginOf(ctx)
		x.client.warn(w)
	}
	if !accepted {
		return x.refused(u, answer)
	}
	err = x.consume(answer)
	if err == nil && x.endless {
		return failure{}
	}
	answer.Body.Close()
	return failure{err: x.unreadable(limited, u, err)}
}

func (x *exchange) begin(attempt int) time.Time {
	x.attempts, x.answer = attempt, nil
	x.client.requests.Add(1)
	x.client.inFlight.Add(1)
	t := x.client.cfg.Trace
	if t != nil && t.RequestStart != nil {
		t.RequestStart(x.req.info(attempt))
	}
	if t != nil && t.RequestDone != nil {
		return time.Now()
	}
	return time.Time{}
}

func (x *exchange) done(attempt, code int, started time.Time, err error) {
	x.client.inFlight.Add(-1)
	t := x.client.cfg.Trace
	if t == nil {
		return
	}
	x.last.Code, x.last.Err = code, err
	x.last.Sent, x.last.Received = len(x.req.Body), 0
	if x.answer != nil && !x.endless {
		x.last.Received = x.answer.n
	}
	if t.RequestDone != nil {
		x.last.Duration = time.Since(started)
		t.RequestDone(x.req.info(attempt), x.last)
	}
}

func (x *exchange) roundTrip(ctx context.Context, u *url.URL, silence *silence) (*http.Response, error) {
	hr, err := x.req.build(ctx, u, x.client.cfg.UserAgent)
	if err != nil {
		return nil, &markedError{kind: RequestInvalid, err: err}
	}
	if credentials := x.client.cfg.Credentials; credentials != nil {
		if err := credentials.Apply(hr); err != nil {
			return nil, &markedError{kind: CredentialsFailed, err: err}
		}
	}
	x.sent = hr
	silence.begin()
	send := x.send
	if send == nil {
		send = x.client.pool.send
	}
	answer, err := send(hr)
	if err == nil {
		x.client.pool.withoutPings.Store(answer.ProtoMajor < 2)
	}
	return answer, err
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

// broken turns the error of a failed transport into a *TransportError.
func (x *exchange) broken(ctx context.Context, u *url.URL, err error) error {
	if context.Cause(ctx) == errSilence {
		err = fmt.Errorf("%w (%v)", errSilence, x.client.cfg.SilenceTimeout)
	} else if end := ctx.Err(); end != nil && !errors.Is(err, end) {
		err = fmt.Errorf("%w (%w)", end, err) // the error of a lower layer that the end of the context caused
	}
	return &TransportError{Kind: kindOf(ctx, err), Verb: x.req.method(), URL: redactURL(u), Err: err}
}

// giveUp returns the error of the last attempt, with the cause of a 401 if it is known.
func (x *exchange) giveUp(attempts int, err error) error {
	err = x.client.pool.explainUnauthorized(err, x.date)
	if attempts > 1 {
		return &AttemptsError{Attempts: attempts, Err: err}
	}
	return err
}

// censored removes the secrets of the last attempt from an error.
func (x *exchange) censored(err error) error {
	if err == nil {
		return nil
	}
	return x.censor(err).error(err)
}

// censor returns the secrets of the last attempt, including those sent to a proxy that failed.
func (x *exchange) censor(err error) censor {
	var proxy *url.URL
	if broken, ok := errors.AsType[*TransportError](err); ok && broken.Kind == ProxyFailed && x.sent != nil {
		proxy, _ = x.client.pool.proxy(x.sent)
	}
	return censorFor(x.sent, proxy)
}
