package restclient_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/fast"
	"orrery/restclient/restclienttest"
)

// Mistakes that are easily made, each with the behaviour it breaks.

// decoders are the forms of the decoder, without a client.
var decoders = map[string]restclient.Codec{"textbook": restclient.PlainCodec(), "fast": fast.Codec{}}

// An item of exactly the limit is accepted, white space around it not counted, and one byte more is
// refused.
func TestTheLimitIsExact(t *testing.T) {
	item := `{"metadata":{"name":"` + strings.Repeat("x", 30) + `"}}`
	for name, codec := range decoders {
		for _, tooMuch := range []int{0, 1} {
			list := fmt.Sprintf(`{"kind":"PodList","metadata":{},"items":[%s,`+"\n"+`%s]}`, item, item)
			_, err := codec.List("application/json", strings.NewReader(list), len(item)-tooMuch)
			if tooMuch == 0 {
				assert.NoError(t, err, name)
				continue
			}
			var large *restclient.TooLargeError
			assert.ErrorAs(t, err, &large, "%s: a list of %d bytes more than the limit was accepted", name, tooMuch)
		}
	}
}

// endless is a body with an endless string. It counts the bytes read.
type endless struct {
	begin string
	read  int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.begin)
	e.begin = e.begin[n:]
	for i := n; i < len(p); i++ {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

// A server that sends an endless list must not fill the memory: the limit bounds what is read,
// not only what is accepted.
func TestTheLimitBoundsWhatIsRead(t *testing.T) {
	const limit = 10_000
	for name, codec := range decoders {
		var large *restclient.TooLargeError
		for _, begin := range []string{`{"kind":"`, `{"x`, `{"items":[{"a":"`, `{"items":[{},{"a":"`} {
			list := &endless{begin: begin}
			_, err := codec.List("application/json", list, limit)
			assert.ErrorAs(t, err, &large, "%s: %s", name, begin)
			assert.Less(t, list.read, 10*limit, name)
		}
	}
}

// Some servers leave out the kind of a list.
func TestAListWithoutAKind(t *testing.T) {
	for name, codec := range decoders {
		list, err := codec.List("application/json", strings.NewReader(`{"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a"}}]}`), 1000)
		require.NoError(t, err, name)
		assert.Len(t, list.Items, 1)
		assert.Equal(t, "9", list.ResourceVersion)
	}
}

// The idle timeout of a watch ends with its response headers: an event does not restart it. The
// timeout of the client applies only to requests that end by themselves.
func TestAWatchMayBeSilent(t *testing.T) {
	for _, transport := range transports {
		bubble(t, func(w http.ResponseWriter, r *http.Request) {
			restclienttest.ServeWatch(w, r, restclienttest.TextFrames, func(s *restclienttest.Stream) {
				for _, version := range []string{"1", "2"} {
					time.Sleep(time.Hour)
					s.Send(api.WatchAdded, namespace("a", version))
				}
			})
		}, func(t *testing.T, server *restclienttest.Server) {
			client := server.Client(func(cfg *restclient.Config) {
				cfg.WatchTransport, cfg.SilenceTimeout, cfg.Timeout = transport, time.Minute, time.Second
			})
			w, err := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "").Watch(t.Context(), api.ListOptions{})
			require.NoError(t, err)
			for _, version := range []string{"1", "2"} {
				event, err := w.Next()
				require.NoError(t, err)
				assert.Equal(t, version, event.ResourceVersion)
			}
			_, err = w.Next()
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
		namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
		pods := restclient.Metadata(client, api.PodsResource, "")
		_, metadataList := pods.List(t.Context(), api.ListOptions{})
		_, metadata := pods.InNamespace("shop").Get(t.Context(), "held", api.GetOptions{})
		_, metadataWatch := pods.Watch(t.Context(), api.ListOptions{})
		_, list := namespaces.List(t.Context(), api.ListOptions{})
		_, object := namespaces.Get(t.Context(), "held", api.GetOptions{})
		_, watch := namespaces.Watch(t.Context(), api.ListOptions{})
		for what, err := range map[string]error{"list of metadata": metadataList, "metadata": metadata,
			"watch of metadata": metadataWatch, "list": list, "object": object, "watch": watch} {
			var nonsense *restclient.DecodeError
			assert.ErrorAs(t, err, &nonsense, what)
			assert.ErrorContains(t, err, "protobuf in the answer to a request for JSON", what)
		}
	})
}

// A Retry-After belongs to one refusal: the header overrides the body, and without both there is
// none.
func TestTheDelayOfARefusal(t *testing.T) {
	withDetails := func(w http.ResponseWriter, r *http.Request) {
		if seconds := r.URL.Query().Get("header"); seconds != "" {
			w.Header().Set("Retry-After", seconds)
		}
		status := refusal(http.StatusTooManyRequests, api.ReasonTooManyRequests, "later")
		if r.URL.Query().Get("body") != "" {
			status.Details = &api.StatusDetails{RetryAfterSeconds: 7}
		}
		answer(w, http.StatusTooManyRequests, status)
	}
	for query, want := range map[string]time.Duration{"": 0, "?body=7": 7 * time.Second, "?header=3": 3 * time.Second, "?header=3&body=7": 3 * time.Second} {
		bubble(t, withDetails, func(t *testing.T, server *restclienttest.Server) {
			client := server.Client(func(cfg *restclient.Config) { cfg.MaxRetries = -1 })
			request := get("/")
			if query != "" {
				request.Query = map[string][]string{}
				for pair := range strings.SplitSeq(query[1:], "&") {
					key, value, _ := strings.Cut(pair, "=")
					request.Query.Set(key, value)
				}
			}
			err := client.Do(t.Context(), request, nil)
			assert.True(t, api.IsTooManyRequests(err), "%v", err)
			assert.Equal(t, want, api.RetryAfterOf(err), query)
		})
	}
}

// A token that is renewed while a request waits for its retry is used by the retry.
func TestATokenThatRotatesBetweenAttempts(t *testing.T) {
	var got []string
	bubble(t, func(w http.ResponseWriter, r *http.Request) {
		if got = append(got, r.Header.Get("Authorization")); len(got) == 1 {
			code(503, "Retry-After", "5")(w, r)
		}
	}, func(t *testing.T, server *restclienttest.Server) {
		credentials := &rotating{}
		client := server.Client(func(cfg *restclient.Config) { cfg.Credentials = credentials })
		require.NoError(t, client.Do(t.Context(), restclient.Request{Verb: "PUT", Path: "/", Body: []byte("{}")}, nil))
		assert.Equal(t, []string{"Bearer 1", "Bearer 2"}, got)
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
