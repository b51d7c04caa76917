package restclient_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// Mistakes that are easily made, each with the behaviour it breaks.

// Some servers leave out the kind of a list.
func TestAListWithoutAKind(t *testing.T) {
	for name, codec := range codecs {
		const body = `{"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a"}}]}`
		list, err := codec.List(strings.NewReader(body), 1000)
		require.NoError(t, err, name)
		assert.Len(t, list.Items, 1)
		assert.Equal(t, "9", list.ResourceVersion)
	}
}

// The idle timeout of a watch ends with its response headers: an event does not restart it. The
// timeout of the client applies only to requests that end by themselves.
func TestAWatchMayBeSilent(t *testing.T) {
	for _, transport := range transports {
		bubble(t, watches(func(s *restclienttest.Stream) {
			for _, version := range []string{"1", "2"} {
				time.Sleep(time.Hour)
				s.Send(api.WatchAdded, namespace("a", version))
			}
		}), func(t *testing.T, server *restclienttest.Server) {
			client := server.Client(func(cfg *restclient.Config) {
				cfg.WatchTransport, cfg.SilenceTimeout, cfg.Timeout = transport, time.Minute, time.Second
			})
			w := watchOf(t, client)
			for _, version := range []string{"1", "2"} {
				event, err := w.Next()
				require.NoError(t, err)
				assert.Equal(t, version, event.ResourceVersion)
			}
			_, err := w.Next()
			assert.Equal(t, io.EOF, err)
			assert.Empty(t, server.Requests()[0].Query.Get("timeout"))
		})
	}
}

func TestUnrequestedProtobuf(t *testing.T) {
	eachCodec(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		io.WriteString(w, "k8s\x00")
	}, func(t *testing.T, client *restclient.Client, _ *restclienttest.Server) {
		namespaces := namespacesOf(client)
		pods := podsOf(client)
		for what, err := range map[string]error{
			"list of metadata":  errorOf(pods.List(t.Context(), api.ListOptions{})),
			"metadata":          errorOf(pods.InNamespace("shop").Get(t.Context(), "held", api.GetOptions{})),
			"watch of metadata": errorOf(pods.Watch(t.Context(), api.ListOptions{})),
			"list":              errorOf(namespaces.List(t.Context(), api.ListOptions{})),
			"object":            errorOf(namespaces.Get(t.Context(), "held", api.GetOptions{})),
			"watch":             errorOf(namespaces.Watch(t.Context(), api.ListOptions{})),
		} {
			var nonsense *restclient.DecodeError
			assert.ErrorAs(t, err, &nonsense, what)
			assert.ErrorContains(t, err, "protobuf in the answer to a request for JSON", what)
		}
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
	handler := says(`{"kind":"NamespaceList","metadata":{},"items":[` +
		`{"metadata":{"name":"a","managedFields":[{"manager":"first"}]}},` +
		`{"metadata":{"name":"b","managedFields":[{"manager":"other"}]}}]}`)
	bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
		list, err := namespacesOf(server.Client()).List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		require.Len(t, list.Items, 2)
		assert.JSONEq(t, `[{"manager":"first"}]`, list.Items[0].ManagedFields.String())
		assert.JSONEq(t, `[{"manager":"other"}]`, list.Items[1].ManagedFields.String())
	})
}
