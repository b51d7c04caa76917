package restclient_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
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

func TestWhatIsRepeated(t *testing.T) {
	const asked, unasked, never = 11, 5, 1
	withHeader := func(status int) http.HandlerFunc { return code(status, "Retry-After", "2") }
	for _, c := range []struct {
		name     string
		verb     string
		answer   http.HandlerFunc
		attempts int
	}{
		{"GET 429 with header", "GET", withHeader(429), asked},
		{"GET 503 with header", "GET", withHeader(503), asked},
		{"GET 500 with header", "GET", withHeader(500), asked},
		{"POST 429 with header", "POST", withHeader(429), asked},
		{"POST 503 with header", "POST", withHeader(503), asked},
		{"DELETE 504 with header", "DELETE", withHeader(504), asked},
		{"GET 404 with header", "GET", withHeader(404), never},
		{"GET 501 with header", "GET", withHeader(501), never},

		{"GET 429", "GET", code(429), unasked},
		{"POST 429: it was not begun", "POST", code(429), unasked},
		{"GET 500", "GET", code(500), unasked},
		{"GET 502", "GET", code(502), unasked},
		{"GET 503", "GET", code(503), unasked},
		{"GET 504", "GET", code(504), unasked},
		{"GET 501", "GET", code(501), never},
		{"GET 404", "GET", code(404), never},
		{"POST 503: it may have happened", "POST", code(503), never},
		{"PUT 500: it may have happened", "PUT", code(500), never},
		{"DELETE 503: it may have happened", "DELETE", code(503), never},

		{"GET and the connection breaks", "GET", hangUp, unasked},
		{"POST and the connection breaks", "POST", hangUp, never},
		{"DELETE and the connection breaks", "DELETE", hangUp, never},
		{"GET and the body breaks off", "GET", brokenBody, unasked},
		{"POST and the body breaks off", "POST", brokenBody, never},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, c.answer, func(t *testing.T, server *restclienttest.Server) {
				err := server.Client().Do(t.Context(), restclient.Request{Verb: c.verb, Path: "/", Body: []byte("x")}, new([]byte))
				require.Error(t, err)
				assert.Len(t, server.Requests(), c.attempts)
				var repeated *restclient.AttemptsError
				if assert.Equal(t, c.attempts > 1, errors.As(err, &repeated)) && repeated != nil {
					assert.Equal(t, c.attempts, repeated.Attempts)
				}
			})
		})
	}
}

func brokenBody(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", "100")
	io.WriteString(w, `{"a":`)
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func TestRepeatedRequestsAreWhole(t *testing.T) {
	var got []string
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if got = append(got, string(body)); len(got) < 3 {
			code(429, "Retry-After", "1")(w, r)
		}
	}
	bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
		require.NoError(t, server.Client().Do(t.Context(), restclient.Request{Verb: "POST", Path: "/", Body: []byte("body")}, nil))
		assert.Equal(t, []string{"body", "body", "body"}, got)
	})
}

func TestWaitsBetweenAttempts(t *testing.T) {
	bubble(t, script(code(503, "Retry-After", "7"), code(429, "Retry-After", "0"), code(503), code(503), ok), func(t *testing.T, server *restclienttest.Server) {
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
		assert.InDelta(t, 125, waits[2].Milliseconds(), 25, "the first pause that the server did not ask for is the shortest")
		assert.InDelta(t, 250, waits[3].Milliseconds(), 50, "the second one is twice as long")
		assert.Equal(t, waits[0]+waits[1]+waits[2]+waits[3], time.Since(start))
		assert.EqualValues(t, 4, client.Snapshot().Retries)
	})
}

func TestRetryAfterBeyondReasonIsAnError(t *testing.T) {
	bubble(t, code(429, "Retry-After", "301"), func(t *testing.T, server *restclienttest.Server) {
		err := server.Client().Do(t.Context(), get("/"), nil)
		assert.Len(t, server.Requests(), 1)
		assert.Equal(t, 301*time.Second, api.RetryAfterOf(err))
	})
	bubble(t, script(code(429, "Retry-After", "300"), ok), func(t *testing.T, server *restclienttest.Server) {
		assert.NoError(t, server.Client().Do(t.Context(), get("/"), nil), "the longest wait is not beyond reason")
	})
	bubble(t, script(code(429, "Retry-After", "301"), ok), func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) { cfg.MaxRetryAfter = time.Hour })
		assert.NoError(t, client.Do(t.Context(), get("/"), nil))
	})
}

func TestRetriesCanBeSwitchedOff(t *testing.T) {
	bubble(t, code(429, "Retry-After", "1"), func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) { cfg.MaxRetries = -1 })
		assert.True(t, api.IsTooManyRequests(client.Do(t.Context(), get("/"), nil)))
		assert.Len(t, server.Requests(), 1)
	})
	bubble(t, code(429, "Retry-After", "1"), func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) { cfg.MaxRetries = 2 })
		err := client.Do(t.Context(), get("/"), nil)
		assert.EqualError(t, err, "the server has received too many requests and has asked us to try again later (after 3 attempts)")
		assert.Len(t, server.Requests(), 3)
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

func TestADeadlineThatComesFirstEndsTheAttempts(t *testing.T) {
	bubble(t, code(429, "Retry-After", "60"), func(t *testing.T, server *restclienttest.Server) {
		ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		start := time.Now()
		err := server.Client().Do(ctx, get("/"), nil)
		assert.True(t, api.IsTooManyRequests(err), "the server's answer, not the deadline: %v", err)
		assert.Zero(t, time.Since(start))
	})
}

func TestRefusedConnectionsAreReportedAtOnce(t *testing.T) {
	bubble(t, ok, func(t *testing.T, server *restclienttest.Server) {
		server.Refuse(true)
		start := time.Now()
		err := server.Client().Do(t.Context(), get("/"), nil)
		assert.ErrorIs(t, err, syscall.ECONNREFUSED)
		assert.Zero(t, time.Since(start))
	})
}

func TestWatchesAreRepeatedOnlyWhenTheServerAsks(t *testing.T) {
	for _, transport := range transports {
		for _, c := range []struct {
			name     string
			answer   http.HandlerFunc
			attempts int
		}{
			{"429 with header", code(429, "Retry-After", "1"), 11},
			{"429", code(429), 1},
			{"500", code(500), 1},
			{"broken connection", hangUp, 1},
		} {
			t.Run(string(transport)+" "+c.name, func(t *testing.T) {
				bubble(t, c.answer, func(t *testing.T, server *restclienttest.Server) {
					client := server.Client(func(cfg *restclient.Config) { cfg.WatchTransport = transport })
					_, err := restclient.Metadata(client, api.PodsResource, "").Watch(t.Context(), api.ListOptions{})
					require.Error(t, err)
					assert.Len(t, server.Requests(), c.attempts)
				})
			})
		}
	}
}

// A caller with its own back-off wants the error: nested retries would multiply the attempts.
func TestSingleAttempt(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		asked  time.Duration
	}{
		{"429 with header", code(429, "Retry-After", "1"), time.Second},
		{"503 with header", code(503, "Retry-After", "7"), 7 * time.Second},
		{"429", code(429), 0},
		{"500", code(500), 0},
		{"broken connection", hangUp, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, c.answer, func(t *testing.T, server *restclienttest.Server) {
				start, ctx := time.Now(), api.WithSingleAttempt(t.Context())
				pods := restclient.Metadata(server.Client(), api.PodsResource, "")
				_, err := pods.List(ctx, api.ListOptions{})
				require.Error(t, err)
				assert.Equal(t, c.asked, api.RetryAfterOf(err), "the caller gets the delay")
				_, err = pods.Watch(ctx, api.ListOptions{})
				require.Error(t, err)
				assert.Equal(t, c.asked, api.RetryAfterOf(err))
				assert.Len(t, server.Requests(), 2)
				assert.Zero(t, time.Since(start))
			})
		})
	}
}

func TestSingleAttemptRenewsCredentials(t *testing.T) {
	bubble(t, only("new", ok), func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) { cfg.Credentials = &tokens{list: []string{"old", "new"}} })
		assert.NoError(t, client.Do(api.WithSingleAttempt(t.Context()), get("/"), nil))
	})
}

func TestThrottling(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			restclienttest.ServeWatch(w, r, restclienttest.TextFrames, func(s *restclienttest.Stream) {})
			return
		}
		ok(w, r)
	}
	bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
		var waits []time.Duration
		client := server.Client(func(cfg *restclient.Config) {
			cfg.QPS, cfg.Burst = 2, 2
			cfg.Trace = &restclient.Trace{Throttled: func(_ restclient.RequestInfo, wait time.Duration) { waits = append(waits, wait) }}
		})
		start := time.Now()
		for range 5 {
			require.NoError(t, client.Do(t.Context(), get("/"), nil))
			w, err := restclient.Metadata(client, api.PodsResource, "").Watch(t.Context(), api.ListOptions{})
			require.NoError(t, err)
			w.Stop()
		}
		half := 500 * time.Millisecond
		assert.Equal(t, slices.Repeat([]time.Duration{half}, 3), waits, "watches are not counted")
		assert.Equal(t, 3*half, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		err := client.Do(ctx, get("/"), nil)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "while waiting for the rate limit of 2 requests per second")
	})
}

func TestAttemptsAreThrottledToo(t *testing.T) {
	bubble(t, script(code(429, "Retry-After", "1"), ok), func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) { cfg.QPS, cfg.Burst = 0.1, 1 })
		start := time.Now()
		require.NoError(t, client.Do(t.Context(), get("/"), nil))
		assert.Equal(t, 10*time.Second, time.Since(start).Round(time.Millisecond))
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
