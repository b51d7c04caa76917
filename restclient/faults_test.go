package restclient_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// fault is something that goes wrong with a request, and what the client makes of it.
type fault struct {
	name   string
	serve  http.HandlerFunc // nil: no process listens
	config func(*restclient.Config)
	call   func(*testing.T, context.Context, *restclient.Client) error // nil: GET / into bytes
	within time.Duration                                               // the context's deadline; 0: none
	single bool                                                        // the caller has a back-off of its own

	want     func(error) bool
	text     string // part of the error
	requests int    // that the server sees
	// For requests that are sent once at most, and for successful ones.
	after      time.Duration // the call takes this time, or up to it if atMost
	atMost     bool
	retryAfter time.Duration // the delay that the caller is told
}

// Numbers of requests: if the server asks for repetitions, if it does not, and if none is allowed.
const asked, unasked, never = 11, 5, 1

// silence is the longest time in which nothing may come of an answer.
const silence = 90 * time.Second

// What is expected of an error.

func anError(err error) bool   { return err != nil }
func success(err error) bool   { return err == nil }
func decodeErr(err error) bool { _, ok := errors.AsType[*restclient.DecodeError](err); return ok }
func tooLarge(err error) bool  { _, ok := errors.AsType[*restclient.TooLargeError](err); return ok }

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func ofKind(kind restclient.TransportErrorKind) func(error) bool {
	return func(err error) bool {
		broken, ok := errors.AsType[*restclient.TransportError](err)
		return ok && broken.Kind == kind
	}
}

func all(checks ...func(error) bool) func(error) bool {
	return func(err error) bool {
		for _, check := range checks {
			if !check(err) {
				return false
			}
		}
		return true
	}
}

// The calls.

func raw(verb string) func(*testing.T, context.Context, *restclient.Client) error {
	r := restclient.Request{Verb: verb, Path: "/"}
	if verb != "GET" {
		r.Body = []byte("x")
	}
	return request(r, new([]byte))
}

func request(r restclient.Request, into any) func(*testing.T, context.Context, *restclient.Client) error {
	return func(_ *testing.T, ctx context.Context, client *restclient.Client) error {
		return client.Do(ctx, r, into)
	}
}

func getPod(_ *testing.T, ctx context.Context, client *restclient.Client) error {
	return errorOf(restclient.Metadata(client, api.PodsResource, "a").Get(ctx, "x", api.GetOptions{}))
}

func deletePod(_ *testing.T, ctx context.Context, client *restclient.Client) error {
	return restclient.Metadata(client, api.PodsResource, "a").Delete(ctx, "x", api.DeleteOptions{})
}

func listPods(_ *testing.T, ctx context.Context, client *restclient.Client) error {
	return errorOf(podsOf(client).List(ctx, api.ListOptions{}))
}

func watchPods(t *testing.T, ctx context.Context, client *restclient.Client) error {
	w, err := podsOf(client).Watch(ctx, api.ListOptions{})
	if err == nil {
		w.Stop()
		w.Stop()
	}
	return err
}

// readWatch reads a watch to its end.
func readWatch(t *testing.T, ctx context.Context, client *restclient.Client) error {
	w, err := podsOf(client).Watch(ctx, api.ListOptions{})
	for err == nil {
		_, err = w.Next()
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func create(_ *testing.T, ctx context.Context, client *restclient.Client) error {
	namespaces := namespacesOf(client)
	return errorOf(namespaces.Create(ctx, namespace("a", ""), api.UpdateOptions{}))
}

func updateWhatCannotBeEncoded(_ *testing.T, ctx context.Context, client *restclient.Client) error {
	object := &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "x"}, "bad": func() {}}}
	return errorOf(restclient.Dynamic(client, deployments, "a").Update(ctx, object, api.UpdateOptions{}))
}

// The answers.

// says answers 200 with a text.
func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

// refuses answers with a Status.
func refuses(code int, reason api.StatusReason, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { answer(w, code, refusal(code, reason, message)) }
}

// hangsAfter sends the headers and the beginning of a body, and no more; "" is no answer at all.
func hangsAfter(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if text != "" {
			w.WriteHeader(code)
			io.WriteString(w, text)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

// asks answers with a code and a Retry-After of two seconds.
func asks(status int) http.HandlerFunc { return code(status, "Retry-After", "2") }

// inNineSeconds asks for a retry by a date.
func inNineSeconds(w http.ResponseWriter, r *http.Request) {
	code(503, "Retry-After", time.Now().Add(9*time.Second).UTC().Format(http.TimeFormat))(w, r)
}

// inProtobuf answers 404 with a Status in protobuf, which was not requested.
func inProtobuf(w http.ResponseWriter, _ *http.Request) {
	data, err := os.ReadFile("testdata/status-404.pb")
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
	w.WriteHeader(http.StatusNotFound)
	w.Write(data)
}

// The configurations.

func webSocket(cfg *restclient.Config) { cfg.WatchTransport = restclient.WatchWebSocket }

func timeout(limit time.Duration) func(*restclient.Config) {
	return func(cfg *restclient.Config) { cfg.Timeout = limit }
}

func retries(n int) func(*restclient.Config) {
	return func(cfg *restclient.Config) { cfg.MaxRetries = n }
}

func with(credentials func() restclient.Credentials) func(*restclient.Config) {
	return func(cfg *restclient.Config) { cfg.Credentials = credentials() }
}

// withTokens makes requests use each token until it is refused.
func withTokens(list ...string) func(*restclient.Config) {
	return with(func() restclient.Credentials { return &tokens{list: list} })
}

var errNoPlugin = errors.New("the plugin is not installed")

// faults are the faults of one request.
var faults = []fault{
	{name: "GET 429 with header", serve: asks(429), requests: asked},
	{name: "GET 503 with header", serve: asks(503), requests: asked},
	{name: "POST 429 with header", call: raw("POST"), serve: asks(429), requests: asked},
	{name: "GET 404 with header", serve: asks(404), requests: never, retryAfter: 2 * time.Second},

	{name: "GET 429", serve: code(429), requests: unasked},
	{name: "POST 429: it was not begun", call: raw("POST"), serve: code(429), requests: unasked},
	{name: "GET 500", serve: code(500), requests: unasked},
	{name: "GET 501", serve: code(501), requests: never},
	{name: "POST 503: it may have happened", call: raw("POST"), serve: code(503), requests: never},

	{name: "GET and the connection breaks", serve: hangUp, requests: unasked},
	{name: "POST and the connection breaks", call: raw("POST"), serve: hangUp, requests: never},
	{name: "GET and the body breaks off", serve: brokenBody, requests: unasked},
	{name: "GET and the list breaks off", call: listPods, serve: breaksOff(`{"items":[{"a":`), requests: unasked},

	// Over both transports.
	{name: "watch 429 with header", call: watchPods, serve: asks(429), requests: asked},
	{name: "watch 429", call: watchPods, serve: code(429), requests: never},
	{name: "watch and the connection breaks", call: watchPods, serve: hangUp, requests: never},
	{name: "watch 410 with a Status", call: watchPods, serve: refuses(410, api.ReasonExpired, "no such luck"),
		want: api.IsExpired, text: "no such luck", requests: 1},
	{name: "a watch that is refused slowly has the time of one silence", call: watchPods, serve: drip(403),
		want: api.IsForbidden, requests: 1, after: silence, atMost: true},
	{name: "the context ends the opening of a watch", call: watchPods, serve: hangsAfter(0, ""),
		within: 5 * time.Second, want: is(context.DeadlineExceeded), requests: 1, after: 5 * time.Second},
	{name: "watch 429 with header, single attempt", call: watchPods, serve: asks(429), single: true,
		requests: never, retryAfter: 2 * time.Second},

	// The websocket library cuts the text of a refusal at 1024 bytes; the code still says what it
	// is.
	{name: "a long refusal of a websocket", call: watchPods, config: webSocket,
		serve: refuses(410, api.ReasonExpired, strings.Repeat("too old ", 500)), want: api.IsExpired, requests: 1},
	// There is an answer: a list may work where the watch does not.
	{name: "the server does not speak websocket", call: watchPods, config: webSocket, serve: ok, want: decodeErr,
		text: "does not switch to the websocket protocol; use the http watch transport", requests: 1},
	// A server that hangs in the middle of the Status must not block the caller.
	{name: "a refused watch is not waited for without end", call: watchPods,
		serve: hangsAfter(403, `{"kind":"Status",`), want: api.IsForbidden, requests: 1,
		after: silence, atMost: true},

	// A caller with its own back-off wants the error: nested retries would multiply the attempts.
	{name: "list 429 with header, single attempt", call: listPods, serve: asks(429), single: true,
		requests: never, retryAfter: 2 * time.Second},
	{name: "list 500, single attempt", call: listPods, serve: code(500), single: true, requests: never},
	{name: "a single attempt renews credentials", serve: only("new", ok), single: true, want: success, requests: 2,
		config: withTokens("old", "new")},
	{name: "a watch renews credentials", call: watchPods, serve: only("new", quiet), want: success, requests: 2,
		config: withTokens("old", "new")},
	{name: "a websocket renews credentials", call: watchPods, serve: only("new", quiet), want: success, requests: 2,
		config: func(cfg *restclient.Config) {
			withTokens("old", "new")(cfg)
			webSocket(cfg)
		}},

	{name: "retries can be switched off", serve: asks(429), config: retries(-1),
		want: api.IsTooManyRequests, requests: 1, retryAfter: 2 * time.Second},
	{name: "two retries are allowed", serve: asks(429), config: retries(2), requests: 3,
		text: "the server has received too many requests and has asked us to try again later"},
	{name: "the header's delay counts, not the body's", requests: 1, retryAfter: 301 * time.Second,
		serve: func(w http.ResponseWriter, _ *http.Request) {
			status := refusal(429, api.ReasonTooManyRequests, "later")
			status.Details = &api.StatusDetails{RetryAfterSeconds: 7}
			w.Header().Set("Retry-After", "301")
			answer(w, 429, status)
		}},
	{name: "the longest wait is not beyond reason", serve: script(code(429, "Retry-After", "300"), ok),
		want: success, requests: 2, after: 300 * time.Second},
	{name: "a longer wait is configured", serve: script(code(429, "Retry-After", "301"), ok),
		config: func(cfg *restclient.Config) { cfg.MaxRetryAfter = time.Hour },
		want:   success, requests: 2, after: 301 * time.Second},
	{name: "a deadline before the next attempt ends them, with the server's answer", within: 59 * time.Second,
		serve: code(429, "Retry-After", "60"), want: api.IsTooManyRequests, requests: 1, retryAfter: time.Minute},
	// Upstream defect 8.15: client-go ignores a Retry-After that is a date, and never retries a 5xx
	// without the header, not even for reads.
	{name: "TestDefect8_15_RetryAfterAsADate GET", serve: script(inNineSeconds, ok),
		want: success, requests: 2, after: 9 * time.Second},
	{name: "TestDefect8_15_RetryAfterAsADate POST", call: raw("POST"), serve: script(inNineSeconds, ok),
		want: success, requests: 2, after: 9 * time.Second},
	{name: "TestDefect8_15_ReadsAreRepeatedWithoutTheHeader", serve: script(code(503), code(500), ok),
		want: success, requests: 3, after: time.Second, atMost: true},

	{name: "a refused connection is reported at once", want: is(syscall.ECONNREFUSED)},
	{name: "a path that cannot be sent", serve: ok, call: request(get("/a%zz"), nil),
		want: ofKind(restclient.RequestInvalid)},
	{name: "a method that cannot be sent", serve: ok, call: request(restclient.Request{Verb: "NO WAY", Path: "/"}, nil),
		want: ofKind(restclient.RequestInvalid)},
	{name: "an object that cannot be encoded", serve: ok, call: updateWhatCannotBeEncoded, want: anError,
		text: "PUT /apis/apps/v1/namespaces/a/deployments/x: the object cannot be encoded"},

	{name: "Timeout before the answer", serve: hangsAfter(0, ""), config: timeout(10 * time.Second),
		want: ofKind(restclient.TimedOut), text: "the server http://apiserver.test did not answer in time",
		requests: 1, after: 10 * time.Second},
	{name: "Timeout inside the body", serve: hangsAfter(200, "{"), config: timeout(10 * time.Second),
		want: ofKind(restclient.TimedOut), text: "the server http://apiserver.test did not answer in time",
		requests: 1, after: 10 * time.Second},
	// A server that sends a byte a second is not silent, but it holds no request for ever.
	{name: "a slow answer to GET", serve: drip(200), want: ofKind(restclient.TimedOut),
		requests: 1, after: restclient.DefaultTimeout},
	{name: "a slow list", call: listPods, serve: drip(200), config: timeout(time.Minute), single: true,
		want: ofKind(restclient.TimedOut), requests: 1, after: time.Minute},
	{name: "a slow answer to a deletion", call: deletePod, serve: drip(200), config: timeout(time.Minute),
		want: ofKind(restclient.TimedOut), requests: 1, after: time.Minute},

	{name: "no credentials", serve: only("x", ok), want: api.IsUnauthorized, requests: 1},
	{name: "there are no fresher credentials", serve: only("new", ok), want: api.IsUnauthorized, requests: 1,
		config: withTokens("old")},
	{name: "fresh credentials are wrong too", call: raw("POST"), serve: only("new", ok), want: api.IsUnauthorized,
		requests: 2, config: withTokens("old", "older", "new")},
	{name: "each refusal drops the credentials that were refused", serve: only("new", ok), want: success, requests: 3,
		config: withTokens("old", "older", "new"),
		call: func(t *testing.T, ctx context.Context, client *restclient.Client) error {
			assert.True(t, api.IsUnauthorized(raw("GET")(t, ctx, client)))
			return raw("GET")(t, ctx, client)
		}},
	{name: "credentials that fail", serve: ok,
		config: with(func() restclient.Credentials { return &tokens{err: errNoPlugin} }),
		want:   all(ofKind(restclient.CredentialsFailed), is(errNoPlugin)),
		text:   "the credentials for http://apiserver.test cannot be obtained: the plugin is not installed"},
	// A token that expires between a 401 and the check for a fresh one.
	{name: "credentials that fail after a 401", serve: only("new", ok), want: api.IsUnauthorized, requests: 1,
		config: with(func() restclient.Credentials { return &failAfter401{tokens{list: []string{"old"}}} })},

	{name: "half a document", serve: says(`{"a":`), call: request(get("/v"), &api.VersionInfo{}), want: decodeErr,
		text: "GET http://apiserver.test/v: the answer cannot be understood: ", requests: 1},
	{name: "an empty 200 is not an object", serve: code(200), call: request(get("/"), &api.VersionInfo{}),
		want: decodeErr, requests: 1},
	{name: "a body that is longer than the limit is not cut off", serve: says(`{"a":`), want: tooLarge,
		config: func(cfg *restclient.Config) { cfg.MaxBodyBytes = 4 },
		text:   "the body is larger than the limit of 4 bytes", requests: 1},
	{name: "null is no object", serve: says("null"), call: getPod, want: anError,
		text: "null where an object should be", requests: 1},
	{name: "a refusal in protobuf: the code decides", serve: inProtobuf, call: getPod,
		want: api.IsNotFound, requests: 1},
	{name: "a conflict on create means that the name is taken", serve: code(409), call: create,
		want: api.IsAlreadyExists, text: "the server reported a conflict (post namespaces)", requests: 1},
	{name: "a list, read", serve: says(`{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}`), call: listPods,
		want: success, requests: 1},
	{name: "a watch, read to its end", serve: watches(func(*restclienttest.Stream) {}), call: readWatch, want: success,
		requests: 1},
	{name: "an event of a watch that is no JSON", call: readWatch, want: decodeErr, requests: 1,
		serve: watches(func(s *restclienttest.Stream) { s.SendRaw([]byte("hello ")) })},
	{name: "a 101 that was not asked for", want: anError, requests: never,
		serve: func(w http.ResponseWriter, _ *http.Request) {
			hijacked(w, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		}},
	{name: "plain HTTP to a TLS port", want: ofKind(restclient.NeedsTLS), requests: 1,
		serve: func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "Client sent an HTTP request to an HTTPS server.", http.StatusBadRequest)
		},
		text: "the server http://apiserver.test speaks TLS (the address should begin with https://)"},
}

// TestFaults makes one call for each fault. Rows without a config that open a watch do so over both
// transports.
func TestFaults(t *testing.T) {
	for _, c := range faults {
		configs := []func(*restclient.Config){c.config}
		if strings.Contains(c.name, "watch") && c.config == nil {
			configs = []func(*restclient.Config){nil, webSocket}
		}
		for _, config := range configs {
			t.Run(c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { c.run(t, config) })
			})
		}
	}
}

func (c fault) run(t *testing.T, config func(*restclient.Config)) {
	if config == nil {
		config = func(*restclient.Config) {}
	}
	server := restclienttest.NewServer(t, c.serve)
	server.Refuse(c.serve == nil)
	ctx := t.Context()
	if c.single {
		ctx = api.WithSingleAttempt(ctx)
	}
	if c.within > 0 {
		limited, cancel := context.WithTimeout(ctx, c.within)
		defer cancel()
		ctx = limited
	}
	call, want := c.call, c.want
	if call == nil {
		call = raw("GET")
	}
	if want == nil {
		want = anError
	}
	var count bodies
	client := server.Client(config, func(cfg *restclient.Config) { cfg.WrapTransport = count.wrap })
	start := time.Now()
	err := call(t, ctx, client)
	took := time.Since(start)
	assert.Equal(t, count.opened.Load(), count.closed.Load(), "every body is closed")
	assert.Zero(t, client.Snapshot().InFlight)
	assert.Zero(t, client.Snapshot().Watches)
	require.True(t, want(err), "%v", err)
	if c.text != "" {
		assert.ErrorContains(t, err, c.text)
	}
	assert.Len(t, server.Requests(), c.requests)
	if err != nil && c.requests > 1 {
		return // the pauses are random
	}
	if c.atMost {
		assert.LessOrEqual(t, took, c.after)
	} else {
		assert.Equal(t, c.after, took)
	}
	assert.Equal(t, c.retryAfter, api.RetryAfterOf(err), "the caller gets the delay")
}

// breaksOff answers with the beginning of a body of 100 bytes.
func breaksOff(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, text)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

var brokenBody = breaksOff(`{"a":`)

// A token that is renewed while a request waits for its retry is used by the retry.
func TestRepeatedRequestsAreWhole(t *testing.T) {
	var got []string
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if got = append(got, r.Header.Get("Authorization")+" "+string(body)); len(got) < 3 {
			code(429, "Retry-After", "1")(w, r)
		}
	}
	bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(as(&rotating{}))
		put := restclient.Request{Verb: "PUT", Path: "/", Body: []byte("body")}
		require.NoError(t, client.Do(t.Context(), put, nil))
		assert.Equal(t, []string{"Bearer 1 body", "Bearer 2 body", "Bearer 3 body"}, got)
	})
}

// rotating is a token that changes at each request.
type rotating struct {
	tokens
	n int
}

func (r *rotating) Apply(req *http.Request) error {
	r.n++
	req.Header.Set("Authorization", fmt.Sprintf("Bearer %d", r.n))
	return nil
}

func TestWaitsBetweenAttempts(t *testing.T) {
	bubble(t, script(code(503, "Retry-After", "7"), code(429, "Retry-After", "0"), code(503), code(503), ok),
		func(t *testing.T, server *restclienttest.Server) {
			var waits []time.Duration
			client := server.Client(func(cfg *restclient.Config) {
				cfg.Trace = &restclient.Trace{Retry: func(info restclient.RequestInfo, wait time.Duration, err error) {
					assert.Equal(t, len(waits)+1, info.Attempt)
					assert.Error(t, err)
					waits = append(waits, wait)
				}}
			})
			start := time.Now()
			require.NoError(t, client.Do(t.Context(), get("/"), nil))
			require.Len(t, waits, 4)
			assert.Equal(t, 7*time.Second, waits[0])
			assert.Equal(t, 100*time.Millisecond, waits[1], "0 must not become a busy loop")
			assert.InDelta(t, 125, waits[2].Milliseconds(), 25,
				"the first pause that the server did not ask for is the shortest")
			assert.InDelta(t, 250, waits[3].Milliseconds(), 50, "the second one is twice as long")
			assert.Equal(t, waits[0]+waits[1]+waits[2]+waits[3], time.Since(start))
		})
}

func TestTheContextEndsTheWaitForTheNextAttempt(t *testing.T) {
	bubble(t, code(429, "Retry-After", "60"), func(t *testing.T, server *restclienttest.Server) {
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() { failed <- server.Client().Do(ctx, get("/"), nil) }()
		synctest.Wait()
		cancel()
		err := <-failed
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorContains(t, err, "too many requests", "the text says why it was waiting")
		assertKind(t, restclient.Canceled, err)
	})
}

func TestThrottling(t *testing.T) {
	bubble(t, watches(func(*restclienttest.Stream) {}), func(t *testing.T, server *restclienttest.Server) {
		var waits []time.Duration
		client := server.Client(func(cfg *restclient.Config) {
			cfg.QPS, cfg.Burst = 2, 2
			cfg.Trace = &restclient.Trace{Throttled: func(_ restclient.RequestInfo,
				wait time.Duration) {
				waits = append(waits, wait)
			}}
		})
		began := time.Now()
		for range 5 {
			require.NoError(t, client.Do(t.Context(), get("/"), nil))
			watchOf(t, client).Stop()
		}
		half := 500 * time.Millisecond
		assert.Equal(t, slices.Repeat([]time.Duration{half}, 3), waits, "watches are not counted")
		assert.Equal(t, 3*half, time.Since(began))

		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		start, tokens := time.Now(), client.Snapshot().Tokens
		err := client.Do(ctx, get("/"), nil)
		assert.Zero(t, time.Since(start), "the deadline comes first: it is not waited for")
		assert.InDelta(t, tokens, client.Snapshot().Tokens, 1e-6, "the token is given back")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "while waiting for the rate limit of 2 requests per second")
	})
}

// A caller that measures the server's latency can subtract the wait for the client's own limit.
func TestThrottledRequestsReportTheirWait(t *testing.T) {
	bubble(t, ok, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) { cfg.QPS, cfg.Burst = 1, 1 })
		start := time.Now()
		var reported, at []time.Duration
		ctx := api.WithThrottled(t.Context(), func(wait time.Duration) {
			reported, at = append(reported, wait), append(at, time.Since(start))
		})
		for range 3 {
			require.NoError(t, client.Do(ctx, get("/"), nil))
		}
		assert.Equal(t, []time.Duration{time.Second, time.Second}, reported)
		assert.Equal(t, []time.Duration{0, time.Second}, at, "before it waits")
	})
}

// tokens are credentials that move on to the next token when the present one was refused, and stay
// at the last.
type tokens struct {
	mu   sync.Mutex
	list []string
	err  error
}

func (c *tokens) Apply(req *http.Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	req.Header.Set("Authorization", "Bearer "+c.list[0])
	return nil
}

func (c *tokens) Unauthorized(req *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.list) > 1 && req.Header.Get("Authorization") == "Bearer "+c.list[0] {
		c.list = c.list[1:]
	}
}

func (c *tokens) ClientCertificate() (*tls.Certificate, error) { return nil, nil }

// only accepts requests with this token.
func only(token string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			answer(w, 401, refusal(401, api.ReasonUnauthorized, "Unauthorized"))
			return
		}
		next(w, r)
	}
}

type failAfter401 struct{ tokens }

func (c *failAfter401) Unauthorized(*http.Request) { c.err = errors.New("gone") }
