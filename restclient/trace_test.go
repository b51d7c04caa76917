package restclient_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// recorder writes down every hook as a line, and the versions that requests have returned.
type recorder struct{ lines, versions []string }

func (r *recorder) add(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *recorder) trace() *restclient.Trace {
	about := func(i restclient.RequestInfo) string {
		return fmt.Sprintf("%s %s %s %s/%s/%s %s #%d", i.Method, i.Verb, i.Resource.Resource, i.Namespace, i.Name,
			i.Subresource, i.Path, i.Attempt)
	}
	return &restclient.Trace{
		RequestStart: func(i restclient.RequestInfo) { r.add("start %s", about(i)) },
		RequestDone: func(i restclient.RequestInfo, res restclient.RequestResult) {
			r.add("done %s: %d after %v, %v", about(i), res.Code, res.Duration, res.Err)
			r.versions = append(r.versions, res.ResourceVersion)
		},
		Retry: func(i restclient.RequestInfo, wait time.Duration, err error) {
			r.add("retry %s in %v: %v", about(i), wait, err)
		},
		WatchOpened: func(i restclient.RequestInfo) { r.add("opened %s", about(i)) },
		WatchFrame: func(i restclient.RequestInfo, kind api.WatchEventType, bytes int) {
			r.add("frame %s %s %d bytes", i.Path, kind, bytes)
		},
		WatchClosed: func(i restclient.RequestInfo, frames int64, open time.Duration, err error) {
			r.add("closed %s after %d frames, %v: %v", i.Path, frames, open, err)
		},
	}
}

func TestTraceOfARequest(t *testing.T) {
	bubble(t, script(code(503, "Retry-After", "2"), func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(30 * time.Millisecond)
		answer(w, 200, namespace("shop", "1"))
	}, code(404)), func(t *testing.T, server *restclienttest.Server) {
		var r recorder
		client := server.Client(func(cfg *restclient.Config) { cfg.Trace = r.trace() })
		namespaces := namespacesOf(client)
		_, err := namespaces.UpdateStatus(t.Context(), namespace("shop", "1"), api.UpdateOptions{})
		require.NoError(t, err)
		require.Error(t, client.Do(t.Context(), get("/version"), nil))
		const about = "PUT update namespaces /shop/status /api/v1/namespaces/shop/status #"
		const busy = "the server is currently unable to handle the request (put namespaces shop)"
		assert.Equal(t, []string{
			"start " + about + "1",
			"done " + about + "1: 503 after 0s, " + busy,
			"retry " + about + "1 in 2s: " + busy,
			"start " + about + "2",
			"done " + about + "2: 200 after 30ms, <nil>",
			"start GET   // /version #1",
			"done GET   // /version #1: 404 after 0s, the server could not find the requested resource",
		}, r.lines)
		assert.Equal(t, []string{"", "1", ""}, r.versions, "the version identifies the write")
	})
}

// The whole cost of a request: attempts, the pause between them, and the rate limit.
func TestTraceOfTheWhole(t *testing.T) {
	slow := func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) }
	bubble(t, script(code(503, "Retry-After", "2"), slow, slow), func(t *testing.T, server *restclienttest.Server) {
		var done, finished []restclient.RequestResult
		var attempts []int
		client := server.Client(func(cfg *restclient.Config) {
			cfg.QPS, cfg.Burst = 0.125, 1
			cfg.Trace = &restclient.Trace{
				RequestDone: func(_ restclient.RequestInfo, result restclient.RequestResult) {
					done = append(done, result)
				},
				Finished: func(info restclient.RequestInfo, result restclient.RequestResult) {
					finished = append(finished, result)
					attempts = append(attempts, info.Attempt)
				},
			}
		})
		put := restclient.Request{Verb: "PUT", Path: "/x", Body: []byte("hello")}
		require.NoError(t, client.Do(t.Context(), put, nil))
		require.Len(t, done, 2)
		assert.Equal(t, 503, done[0].Code)
		assert.Zero(t, done[0].Waited)
		assert.True(t, done[0].Limited)
		want := restclient.RequestResult{Code: 200, Duration: time.Second, Limited: true, Waited: 6 * time.Second}
		assert.Equal(t, want, done[1])
		want.Duration = 9 * time.Second
		assert.Equal(t, []restclient.RequestResult{want}, finished)
		assert.Equal(t, []int{2}, attempts)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := client.Do(ctx, put, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Len(t, done, 2)
		assert.Equal(t, []int{2, 0}, attempts, "no attempt was made: there was no token")
		assert.Equal(t, err, finished[1].Err)

		watchOf(t, client).Stop()
		require.Len(t, done, 3)
		assert.False(t, done[2].Limited)
		assert.Len(t, finished, 2, "a watch has no end of this kind")
	})
}

func TestTraceOfAWatch(t *testing.T) {
	handler := watches(func(s *restclienttest.Stream) {
		time.Sleep(time.Minute)
		s.SendRaw([]byte(`{"type":"ADDED","object":{"metadata":{}}}` + "\n"))
		s.SendRaw([]byte(`{"type":"BOOKMARK","object":{}}` + "\n"))
	})
	for _, transport := range transports {
		bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
			var r recorder
			client := server.Client(over(transport), func(cfg *restclient.Config) { cfg.Trace = r.trace() })
			w := watchOf(t, client)
			var err error
			for err == nil {
				_, err = w.Next()
			}
			w.Stop()
			require.Equal(t, io.EOF, err)
			status := 200
			if transport == restclient.WatchWebSocket {
				status = 101
			}
			const about = "GET watch pods // /api/v1/pods #1"
			assert.Equal(t, []string{
				"start " + about,
				fmt.Sprintf("done %s: %d after 0s, <nil>", about, status),
				"opened " + about,
				"frame /api/v1/pods ADDED 41 bytes",
				"frame /api/v1/pods BOOKMARK 31 bytes",
				"closed /api/v1/pods after 2 frames, 1m0s: EOF",
			}, r.lines)

			w = watchOf(t, client)
			_, err = w.Next()
			require.NoError(t, err)
			w.Stop()
			assert.Equal(t, "closed /api/v1/pods after 1 frames, 1m0s: the watch was stopped", r.lines[len(r.lines)-1])
		})
	}
}
