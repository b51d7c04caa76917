package restclient

import (
	"context"
	"net/http"
	"regexp"
	"sync/atomic"
	"time"

	"orrery/internal/hooks"
	"orrery/restclient/api"
)

// Trace holds hooks that are called while a Client works, in the manner of net/http/httptrace. A
// nil Trace or a nil field costs a branch and no allocation. Hooks are called on the goroutine that
// does the work, from many at once, and must not block. They never see headers, bodies or
// credentials.
type Trace struct {
	// RequestStart is called before an attempt is sent, RequestDone when its answer has been read,
	// or has failed. For a watch the answer is complete when the stream is open.
	RequestStart func(RequestInfo)
	RequestDone  func(RequestInfo, RequestResult)

	// Finished is called when a request other than a watch is over; the result describes the last
	// attempt, except for Duration and Err, which are those of the whole, waits included. Attempt
	// is 0 if the context ended before the first one.
	Finished func(RequestInfo, RequestResult)

	// Retry is called before the pause that precedes another attempt; err is what went wrong with
	// the one before.
	Retry func(info RequestInfo, wait time.Duration, err error)

	// Throttled is called after an attempt has waited for the rate limit.
	Throttled func(info RequestInfo, wait time.Duration)

	// WatchOpened, WatchFrame and WatchClosed follow one watch. A frame is one event on the wire.
	// Err is what ended the watch, io.EOF for a clean end and ErrWatchStopped for Stop.
	WatchOpened func(RequestInfo)
	WatchFrame  func(info RequestInfo, event api.WatchEventType, bytes int)
	WatchClosed func(info RequestInfo, frames int64, open time.Duration, err error)

	// Warning is called for each Warning header of an answer, and when the server's certificate is
	// not verified.
	Warning func(Warning)
}

// RequestInfo names a request for hooks.
type RequestInfo struct {
	// ID is the number of the request, from 1, unique in the process. All attempts of a request and
	// all hooks of a watch have the same.
	ID     uint64
	Method string // of HTTP
	Verb   string // of Kubernetes: get, list, watch, create, update, patch, delete, deletecollection

	// What the request is about, as far as it is known. Raw requests have neither this nor a Verb.
	Resource    api.GroupVersionResource
	Namespace   string
	Name        string
	Subresource string

	Path    string // on the server, without the query
	Attempt int    // from 1
	Origin  string // identifies the caller, see [WithOrigin]; empty: unknown
}

// RequestResult is how an attempt ended.
type RequestResult struct {
	Code     int           // HTTP status; 0: no answer
	Duration time.Duration // from sending until the body was read
	Err      error         // nil for a 2xx answer that was understood

	Limited bool          // the request took a token of the rate limit
	Waited  time.Duration // for that token

	// ResourceVersion is that of the object in the response, if it was one; it identifies the write
	// among the events of a watch.
	ResourceVersion string
}

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments.
// Arguments may be nil; the result is nil if all are, and the argument itself if there is but one.
func JoinTraces(traces ...*Trace) *Trace {
	return hooks.Join(traces...)
}

// traced makes the request and reports its end.
func (x *exchange) traced(ctx context.Context) error {
	x.req.origin, x.req.id = OriginOf(ctx), requestIDs.Add(1)
	started := time.Now()
	err := x.repeatedly(ctx)
	if t := x.client.cfg.Trace; t.Finished != nil && !x.endless {
		x.last.Duration, x.last.Err = time.Since(started), err
		t.Finished(x.req.info(x.attempts), x.last)
	}
	return err
}

func (x *exchange) begin() {
	x.started = time.Now()
	if t := x.client.cfg.Trace; t.RequestStart != nil {
		t.RequestStart(x.req.info(x.attempts))
	}
}

func (x *exchange) done(code int, err error) {
	x.last.Code, x.last.Err = code, err
	if t := x.client.cfg.Trace; t.RequestDone != nil {
		x.last.Duration = time.Since(x.started)
		t.RequestDone(x.req.info(x.attempts), x.last)
	}
}

// requestIDs is the source of RequestInfo.ID for all clients, because several may share a trace.
var requestIDs atomic.Uint64

type originKey struct{}

// WithOrigin returns a context in which requests are made on behalf of origin, a short text that
// names one piece of work: hooks find it in [RequestInfo]. It must not contain a secret, and is not
// sent to the server.
func WithOrigin(ctx context.Context, origin string) context.Context {
	return context.WithValue(ctx, originKey{}, origin)
}

// OriginOf returns what requests with this context are made on behalf of, or "".
func OriginOf(ctx context.Context) string {
	origin, _ := ctx.Value(originKey{}).(string)
	return origin
}

// Warning is a server's warning about a request that it has answered (HTTP header "Warning" with
// code 299, KEP-1693), or one of this package (Code 0).
type Warning struct {
	Code   int
	Agent  string
	Text   string
	Origin string // identifies the caller, see [WithOrigin]; empty: unknown
}

// warningValues matches the values of Warning headers of API servers (RFC 7234 section 5.5): code,
// agent, quoted text and possibly a quoted date, separated by commas. Malformed values are skipped.
var (
	warningValues = regexp.MustCompile(`(?:^|[ ,])299 (\S+) "((?:[^"\\]|\\.)*)"(?: *"[^"]*")?`)
	quotedPair    = regexp.MustCompile(`\\(.)`)
)

func parseWarnings(header http.Header) (warnings []Warning) {
	for _, line := range header.Values("Warning") {
		for _, found := range warningValues.FindAllStringSubmatch(line, -1) {
			text := quotedPair.ReplaceAllString(found[2], "$1")
			warnings = append(warnings, Warning{Code: 299, Agent: found[1], Text: text})
		}
	}
	return warnings
}

// warn reports the warnings of an answer.
func (x *exchange) warn(ctx context.Context, header http.Header) {
	for _, w := range parseWarnings(header) {
		w.Text, w.Origin = api.CutText(x.censor().text(w.Text)), OriginOf(ctx)
		x.client.warn(w)
	}
}

func (c *Client) warn(w Warning) {
	if t := c.cfg.Trace; t != nil && t.Warning != nil {
		t.Warning(w)
	}
}
