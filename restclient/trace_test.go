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

// recorder writes down every hook as a line.
type recorder struct{ lines []string }

func (r *recorder) add(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *recorder) trace() *restclient.Trace {
	about := func(i restclient.RequestInfo) string {
		return fmt.Sprintf("%s %s %s %s/%s/%s %s #%d", i.Method, i.Verb, i.Resource.Resource, i.Namespace, i.Name,
			i.Subresource, i.Path, i.Attempt)
	}
	ended := func(how string) func(i restclient.RequestInfo, res restclient.RequestResult) {
		return func(i restclient.RequestInfo, res restclient.RequestResult) {
			r.add("%s %s: %d after %v, limited %v, waited %v, version %q: %v", how, about(i), res.Code, res.Duration,
				res.Limited, res.Waited.Round(time.Millisecond), res.ResourceVersion, res.Err)
		}
	}
	return &restclient.Trace{
		RequestStart: func(i restclient.RequestInfo) { r.add("start %s", about(i)) },
		RequestDone:  ended("done"),
		Finished:     ended("finished"),
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

// The whole cost of a request: attempts, the pause between them, and the rate limit.
func TestTraceOfARequest(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(30 * time.Millisecond)
		answer(w, 200, namespace("shop", "1"))
	}
	bubble(t, script(code(503, "Retry-After", "2"), slow), func(t *testing.T, server *restclienttest.Server) {
		var r recorder
		client := server.Client(func(cfg *restclient.Config) { cfg.QPS, cfg.Burst, cfg.Trace = 0.125, 1, r.trace() })
		_, err := namespacesOf(client).UpdateStatus(t.Context(), namespace("shop", "1"), api.UpdateOptions{})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = client.Do(ctx, get("/version"), nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		const about = "PUT update namespaces /shop/status /api/v1/namespaces/shop/status #"
		const busy = "the server is currently unable to handle the request (put namespaces shop)"
		assert.Equal(t, []string{
			"start " + about + "1",
			"done " + about + `1: 503 after 0s, limited true, waited 0s, version "": ` + busy,
			"retry " + about + "1 in 2s: " + busy,
			"start " + about + "2",
			"done " + about + `2: 200 after 30ms, limited true, waited 6s, version "1": <nil>`,
			"finished " + about + `2: 200 after 8.03s, limited true, waited 6s, version "1": <nil>`,
			// No attempt was made: there was no token.
			`finished GET   // /version #0: 0 after 0s, limited true, waited 7.97s, version "": ` + err.Error(),
		}, r.lines)
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
				fmt.Sprintf(`done %s: %d after 0s, limited false, waited 0s, version "": <nil>`, about, status),
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
