package restclient

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
)

// Request is one API request as plain data. It can be sent any number of times.
type Request struct {
	Verb string // the HTTP method; empty: GET
	// Path is appended to the path of Config.Host, e.g. "/api/v1/namespaces/default". Segments that
	// come from names must be escaped already (Resource does that).
	Path  string
	Query url.Values

	Body        []byte // sent with each attempt; nil: no body
	ContentType string // of Body; empty: application/json
	Accept      string // empty: application/json

	// about is set by Resource, for traces and for errors without a text from the server.
	about RequestInfo
	// origin and id are set when the request is made, if there is a trace.
	origin string
	id     uint64
}

const jsonMediaType = "application/json"

func (r *Request) method() string {
	if r.Verb == "" {
		return http.MethodGet
	}
	return strings.ToUpper(r.Verb)
}

func (r *Request) info(attempt int) RequestInfo {
	info := r.about
	info.ID, info.Method, info.Path, info.Attempt, info.Origin = r.id, r.method(), r.Path, attempt, r.origin
	return info
}

// url resolves the request against the server's base URL.
func (r *Request) url(base *url.URL) (*url.URL, error) {
	path := r.Path
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	plain, err := url.PathUnescape(path)
	if err != nil {
		return nil, fmt.Errorf("the path %q cannot be used: %w", r.Path, err)
	}
	u := *base
	u.RawPath = base.EscapedPath() + path
	u.Path = base.Path + plain
	u.RawQuery = r.Query.Encode()
	return &u, nil
}

// build returns the HTTP request of one attempt. Each attempt has a new reader of the body.
func (r *Request) build(ctx context.Context, u *url.URL, userAgent string) (*http.Request, error) {
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	hr, err := http.NewRequestWithContext(ctx, r.method(), "", body)
	if err != nil {
		return nil, fmt.Errorf("the method %q cannot be used", r.Verb)
	}
	hr.URL, hr.Host = u, u.Host
	hr.Header.Set("User-Agent", userAgent)
	hr.Header.Set("Accept", cmp.Or(r.Accept, jsonMediaType))
	if r.Body != nil {
		hr.Header.Set("Content-Type", cmp.Or(r.ContentType, jsonMediaType))
	}
	return hr, nil
}

// safe reports whether the request changes nothing on the server, so that it can be repeated.
func (r *Request) safe() bool {
	return slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, r.method())
}

// Do sends the request and waits for the complete answer, repeating it as the retry rules say. For
// these and the errors see Failure in the package documentation.
//
// into says what to do with the body of a successful (2xx) answer: nil drops it, *[]byte receives
// it raw, *Response receives status code, headers and raw body, anything else is filled by
// api.Unmarshal (or left alone if the answer is 204 No Content).
func (c *Client) Do(ctx context.Context, req Request, into any) error {
	x := &exchange{client: c, req: req}
	x.consume = func(answer *http.Response) error { return x.readInto(answer, into) }
	return x.run(ctx)
}

// Response is an answer whose body was read and closed. Pass a *Response to [Client.Do] to receive
// the answer undecoded.
type Response struct {
	StatusCode int
	Header     http.Header
	Body       []byte
}

// Time returns when the server answered, by its clock; by ours if a proxy dropped the header.
func (r *Response) Time() time.Time {
	at, err := http.ParseTime(r.Header.Get("Date"))
	if err != nil {
		return time.Now()
	}
	return at
}

// readInto reads a whole body into the value that the caller of Do passed.
func (x *exchange) readInto(answer *http.Response, into any) error {
	limit := x.client.cfg.MaxBodyBytes
	if into == nil {
		_, err := io.Copy(io.Discard, io.LimitReader(answer.Body, int64(limit)))
		return err
	}
	data, err := io.ReadAll(bounded(answer.Body, limit, "the body"))
	if err != nil {
		return err
	}
	switch into := into.(type) {
	case *[]byte:
		*into = data
	case *Response:
		*into = Response{StatusCode: answer.StatusCode, Header: answer.Header, Body: data}
	default:
		if len(data) == 0 && answer.StatusCode == http.StatusNoContent {
			return nil
		}
		return api.Unmarshal(data, into)
	}
	return nil
}

// exchange is one request with its attempts, from the rate limit to the decoded answer.
type exchange struct {
	client *Client
	req    Request

	consume func(*http.Response) error                  // reads the body of a 2xx answer
	send    func(*http.Request) (*http.Response, error) // makes one attempt; nil: HTTP over the client's connections
	// endless requests (watches) are exempt from the rate limit and the timeout. Their bodies stay
	// open.
	endless bool

	sent    *http.Request // the last attempt
	renewed bool          // credentials have been renewed once
	unasked int           // retries without a Retry-After

	// The last attempt, for the trace.
	attempts int
	started  time.Time
	last     RequestResult
}

// run makes attempts until one succeeds or the retry policy gives up.
func (x *exchange) run(ctx context.Context) error {
	if x.client.cfg.Trace != nil {
		return x.traced(ctx)
	}
	return x.repeatedly(ctx)
}

func (x *exchange) repeatedly(ctx context.Context) error {
	x.client.pool.connections.use()
	defer x.client.pool.connections.release()
	u, err := x.req.url(x.client.base)
	if err != nil {
		return &TransportError{Kind: RequestInvalid, Verb: x.req.method(), URL: redactURL(x.client.base), Err: err}
	}
	for attempt := 1; ; attempt++ {
		if x.client.limiter != nil && !x.endless {
			if err := x.throttle(ctx, u, attempt); err != nil {
				return err
			}
		}
		f := x.attempt(ctx, u, attempt)
		if f.err == nil {
			return nil
		}
		if err := x.beforeNext(ctx, u, attempt, f); err != nil {
			return err
		}
	}
}

// attempt sends the request once and consumes its answer. It closes the body, unless the exchange
// is endless and succeeded.
func (x *exchange) attempt(ctx context.Context, u *url.URL, attempt int) (f failure) {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if limit := x.client.cfg.Timeout; limit > 0 && !x.endless {
		limited, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	limited, silence := newSilence(limited)

	x.attempts = attempt
	x.client.inFlight.Add(1)
	if x.client.cfg.Trace != nil {
		x.begin()
	}
	code := 0
	defer func() {
		if f.err != nil {
			f.err = x.censor().error(f.err)
		}
		x.client.inFlight.Add(-1)
		if x.client.cfg.Trace != nil {
			x.done(code, f.err)
		}
		if !x.endless || f.err != nil {
			silence.end() // the stream of a watch outlives the attempt
		}
	}()

	answer, err := x.roundTrip(limited, u, silence)
	if err != nil {
		return failure{err: x.broken(limited, u, err)}
	}
	code = answer.StatusCode
	content := &body{ReadCloser: answer.Body, silence: silence}
	answer.Body = content
	silence.timer.Reset(silenceTimeout)
	accepted := code/100 == 2 || code == http.StatusSwitchingProtocols && x.send != nil
	if x.endless {
		content.silence = nil // no Timeout applies: the whole refusal must come in the time of one silence
		if accepted {
			silence.stop() // a watch may be silent; pings or the caller detect a dead connection
		}
	}
	if answer.Header["Warning"] != nil {
		x.warn(ctx, answer.Header)
	}
	if !accepted {
		return x.refused(u, answer)
	}
	err = x.consume(answer)
	if err == nil && x.endless {
		return failure{}
	}
	answer.Body.Close()
	if err != nil {
		return failure{err: x.unreadable(limited, u, err)}
	}
	return failure{}
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
