package restclient_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

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
