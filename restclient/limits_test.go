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

// repeat answers with begin, and then with the same text until the client hangs up.
func repeat(begin, again string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, err := io.WriteString(w, begin)
		for piece := strings.Repeat(again, 1+64<<10/len(again)); err == nil; {
			_, err = io.WriteString(w, piece)
		}
	}
}

// A server can answer a list without end. It fills no memory, and the error names what was refused.
func TestEndlessLists(t *testing.T) {
	const list = "the list is larger than the limit of 65536 bytes"
	// The textbook decodes a list when it is complete: the limit of the list comes first.
	const item = "an item of the list is larger than the limit of 16384 bytes|" + list
	for name, endless := range map[string]struct {
		handler http.HandlerFunc
		refused string
	}{
		"items":       {repeat(`{"items":[{}`, `,{}`), list},
		"a long item": {repeat(`{"items":[{"metadata":{"name":"`, `x`), item},
		"finalizers":  {repeat(`{"items":[{"metadata":{"finalizers":[""`, `,""`), item},
		"fields":      {repeat(`{"kind":"PodList"`, `,"a":0`), list},
		"a field":     {repeat(`{"kind":"`, `x`), item},
		"a name":      {repeat(`{"x`, `x`), item},
		"white space": {repeat(`{"items":[{}],`, " "), "larger than the limit of"},
	} {
		t.Run(name, func(t *testing.T) {
			eachCodec(t, endless.handler, func(t *testing.T, client *restclient.Client, server *restclienttest.Server) {
				var count bodies
				bounded := server.Client(func(cfg *restclient.Config) {
					cfg.Codec, cfg.MaxFrameBytes, cfg.MaxListBytes = client.Config().Codec, 16<<10, 64<<10
					cfg.WrapTransport = count.wrap
				})
				_, listed := podsOf(bounded).List(t.Context(), api.ListOptions{})
				_, _, deleted := podsOf(bounded).DeleteCollection(t.Context(), api.DeleteOptions{}, api.ListOptions{})
				for _, err := range []error{listed, deleted} {
					require.ErrorAs(t, err, new(*restclient.TooLargeError))
					assert.Regexp(t, endless.refused, err.Error())
				}
				assert.Less(t, count.read.Load(), int64(8*64<<10), "the limit bounds what is read")
				assert.Len(t, server.Requests(), 2, "a list that is too large is not asked for again")
			})
		})
	}
}

// The limits are exact: of a list for one answer, and of an item for the item without the white
// space around it.
func TestTheLimitsOfAListAreExact(t *testing.T) {
	const item = `{"metadata":{"name":"a"}}`
	const body = `{"kind":"PodList","metadata":{},"items":[` + item + ",\n" + item + `]}`
	for _, c := range []struct {
		list, item int
		good       bool
	}{
		{len(body), len(item), true}, {len(body) - 1, len(item), false}, {len(body), len(item) - 1, false},
		{0, 0, true},
	} {
		eachCodec(t, says(body), func(t *testing.T, client *restclient.Client, server *restclienttest.Server) {
			bounded := server.Client(func(cfg *restclient.Config) {
				cfg.Codec, cfg.MaxFrameBytes = client.Config().Codec, c.item
			}).WithListLimit(c.list)
			for range 2 {
				_, err := podsOf(bounded).List(t.Context(), api.ListOptions{})
				assert.Equal(t, c.good, err == nil, "%d bytes with the limits %+v: %v", len(body), c, err)
			}
		})
	}
}

// drip answers with a byte a second.
func drip(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		for err := error(nil); err == nil; time.Sleep(time.Second) {
			_, err = io.WriteString(w, " ")
			http.NewResponseController(w).Flush()
		}
	}
}

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
				cfg.WatchTransport, cfg.Timeout = transport, time.Second
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
