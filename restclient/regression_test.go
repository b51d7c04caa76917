package restclient_test

import (
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

// Upstream defect 8.15, first half: client-go ignores a Retry-After that is a date, and so does
// not retry.
func TestDefect8_15_RetryAfterAsADate(t *testing.T) {
	for _, verb := range []string{"GET", "POST"} {
		bubble(t, script(
			func(w http.ResponseWriter, r *http.Request) {
				code(503, "Retry-After", time.Now().Add(9*time.Second).UTC().Format(http.TimeFormat))(w, r)
			}, ok,
		), func(t *testing.T, server *restclienttest.Server) {
			start := time.Now()
			require.NoError(t, server.Client().Do(t.Context(), restclient.Request{Verb: verb, Path: "/"}, nil))
			assert.Equal(t, 9*time.Second, time.Since(start))
		})
	}
}

// Upstream defect 8.15, second half: client-go never retries a 5xx without the header, not even
// for reads.
func TestDefect8_15_ReadsAreRepeatedWithoutTheHeader(t *testing.T) {
	bubble(t, script(code(503), code(500), ok), func(t *testing.T, server *restclienttest.Server) {
		require.NoError(t, server.Client().Do(t.Context(), get("/"), nil))
		assert.Len(t, server.Requests(), 3)
	})
}

// Complaint 17 about client-go: by default a client gets 5 requests per second.
func TestDefaultRateIsNotFivePerSecond(t *testing.T) {
	bubble(t, ok, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) { cfg.QPS = 0 })
		start := time.Now()
		for range 150 {
			require.NoError(t, client.Do(t.Context(), get("/"), nil))
		}
		assert.Equal(t, time.Second, time.Since(start).Round(time.Millisecond))
	})
}

// kubernetes/kubernetes 113305: items must not retain their page. Here they are separate objects
// from the start, so an item's neighbours can be collected. Without measuring memory, the test
// shows that the decoder's buffer is not part of them.
func TestIssue113305_ItemsDoNotShareTheBuffer(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"kind":"NamespaceList","metadata":{},"items":[`+
			`{"metadata":{"name":"a","managedFields":[{"manager":"first"}]}},{"metadata":{"name":"b","managedFields":[{"manager":"other"}]}}]}`)
	}
	bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
		list, err := restclient.Typed[*api.Namespace](server.Client(), api.NamespacesResource, "").List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		require.Len(t, list.Items, 2)
		assert.JSONEq(t, `[{"manager":"first"}]`, list.Items[0].ManagedFields.String())
		assert.JSONEq(t, `[{"manager":"other"}]`, list.Items[1].ManagedFields.String())
	})
}
