package restclient_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/fast"
	"orrery/restclient/restclienttest"
)

// codecs are the forms of the decoder for Metadata resources. The tests expect the same of all.
var codecs = map[string]restclient.Codec{"textbook": restclient.PlainCodec(), "fast": fast.Codec{}}

// eachCodec runs a test against a server with a client of each form.
func eachCodec(t *testing.T, handler http.HandlerFunc,
	test func(t *testing.T, client *restclient.Client, server *restclienttest.Server)) {
	t.Helper()
	for name, codec := range codecs {
		t.Run(name, func(t *testing.T) {
			bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
				test(t, server.Client(func(cfg *restclient.Config) { cfg.Codec = codec }), server)
			})
		})
	}
}

// recorded answers with a file of testdata: a response of kube-apiserver v1.36.3, byte for byte.
func recorded(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			panic(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(data)
	}
}

// What kube-apiserver has answered is read alike by each form, without the managed fields.
func TestWire(t *testing.T) {
	for file, names := range map[string][]string{
		"metadata-pods.json": {"web-1", "web-2", "web-3"}, "metadata-list.json": {"cm0", "cm1", "kube-root-ca.crt"},
		"delete-collection.json": {"cm0", "cm1", "kube-root-ca.crt"}, "delete-empty-collection.json": nil,
	} {
		eachCodec(t, recorded(file), func(t *testing.T, client *restclient.Client, _ *restclienttest.Server) {
			list, err := podsOf(client).List(t.Context(), api.ListOptions{})
			require.NoError(t, err)
			assert.Equal(t, "PartialObjectMetadataList", list.Kind)
			assert.NotEmpty(t, list.ResourceVersion)
			var found []string
			for _, item := range list.Items {
				found = append(found, item.Name)
				assert.Equal(t, "PartialObjectMetadata", item.Kind)
				assert.True(t, item.ManagedFields.IsZero(), "managed fields are left out")
			}
			assert.Equal(t, names, found)
			deleted, listed, err := podsOf(client).DeleteCollection(t.Context(), api.DeleteOptions{}, api.ListOptions{})
			require.NoError(t, err)
			assert.True(t, listed, "an empty collection is answered with a list, and so proven empty")
			assert.Equal(t, list, deleted)
		})
	}
	for _, file := range []string{"metadata-pods-watch.json", "metadata-watch.json"} {
		eachCodec(t, recorded(file), func(t *testing.T, client *restclient.Client, _ *restclienttest.Server) {
			w := watchOf(t, client)
			for i := range 4 {
				event, err := w.Next()
				require.NoError(t, err)
				assert.NotEmpty(t, event.ResourceVersion)
				assert.Equal(t, i == 3, event.InitialEventsEnd)
				assert.Equal(t, i == 3, event.Type == api.WatchBookmark)
				assert.Equal(t, i == 3, event.Object == nil)
				assert.True(t, event.Object == nil || event.Object.ManagedFields.IsZero())
			}
			_, err := w.Next()
			assert.Equal(t, io.EOF, err)
		})
	}
	eachCodec(t, recorded("metadata-object.json"),
		func(t *testing.T, client *restclient.Client, _ *restclienttest.Server) {
			held, err := podsOf(client).InNamespace("record").Get(t.Context(), "held", api.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, []string{"orrery.example/hold"}, held.Finalizers)
		})
	bubble(t, recorded("list.json"), func(t *testing.T, server *restclienttest.Server) {
		whole, err := restclient.Dynamic(server.Client(), api.PodsResource, "").List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		require.Len(t, whole.Items, 3)
		assert.Equal(t, "ConfigMap", whole.Items[0].GetKind())
		assert.Equal(t, "v1", whole.Items[0].GetAPIVersion())
		assert.Equal(t, "v", whole.Items[0].NestedString("data", "k"))
	})
}

// Lists that no server should send. The result is never shorter than the list: a damaged one is
// an error.
func TestListsThatCannotBeUnderstood(t *testing.T) {
	list := func(items string) string {
		return `{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":` + items + "}"
	}
	// regular expressions; the forms of the decoder word some of it differently
	for _, c := range []struct{ body, want string }{
		{`[]`, "\\[|unmarshal array"}, {`7`, "'7'|unmarshal number"}, {`null`, "'n'|expected a list"},
		{`{"kind":"Pod","metadata":{}}`, `expected a list, got an object of kind "Pod"`},
		{`{"kind":"Status","status":"Success"}`, "a Status where a list should be"},
		{`{"kind":"Status","status":7}`, "cannot unmarshal number"},
		{`{"kind":"Status","status":"x","a":}`, "'}'"},
		{`{"kind":7}`, "cannot unmarshal number"},
		{`{"kind":"PodList","metadata":{"resourceVersion":5},"items":[]}`, "cannot unmarshal number"},
		{list(`{}`), `'{' at byte .* where \[ should be|items is neither an array nor null`},
		{list(`nil`), "items is neither an array nor null|invalid character 'i'"},
		{list(`[null]`), "item 0: null where an object should be"},
		{list(`[{"metadata":{"name":"a"}},{"metadata":7}]`), "item 1: "},
		{list(`[{"a":1}{}]`), "'{'|expected comma"},
		{list(`[]`) + `x`, "'x'"}, {list(`[]`) + `{}`, "the end should be|there is data after the list"},
		{list(`[{"metadata":{"name":"` + strings.Repeat("x", 20_000) + `"}}]`),
			"an item of the list is larger than the limit of 10000 bytes"},
	} {
		eachCodec(t, says(c.body), func(t *testing.T, client *restclient.Client, server *restclienttest.Server) {
			client = server.Client(func(cfg *restclient.Config) {
				cfg.Codec, cfg.MaxFrameBytes = client.Config().Codec, 10_000
			})
			metadata, errMetadata := podsOf(client).List(t.Context(), api.ListOptions{})
			pods := restclient.Typed[*api.Pod](client, api.PodsResource, "")
			typed, errTyped := pods.List(t.Context(), api.ListOptions{})
			assert.Nil(t, metadata)
			assert.Nil(t, typed)
			for _, err := range []error{errMetadata, errTyped} {
				require.ErrorAs(t, err, new(*restclient.DecodeError), "%.80s", c.body)
				assert.Regexp(t, c.want, err.Error())
			}
			assert.Len(t, server.Requests(), 2, "the server would answer the same again")
		})
	}
}

// A list that ends early is a broken connection and is requested again, wherever it ends; it is
// never taken for a shorter list.
func TestAListThatBreaksOffIsAskedForAgain(t *testing.T) {
	whole := `{"kind":"PodList","metadata":{"resourceVersion":"7","continue":"next","remainingItemCount":4},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`
	for cut := 1; cut < len(whole); cut += 3 {
		for name, codec := range codecs {
			bubble(t, script(says(whole[:cut]), says(whole)), func(t *testing.T, server *restclienttest.Server) {
				client := server.Client(func(cfg *restclient.Config) { cfg.Codec = codec })
				list, err := podsOf(client).List(t.Context(), api.ListOptions{})
				require.NoError(t, err, "%s: %s", name, whole[:cut])
				require.Len(t, list.Items, 2)
				assert.Equal(t, "7", list.ResourceVersion)
				assert.Equal(t, "next", list.Continue, "without it the rest of the list would be lost")
				assert.EqualValues(t, 4, *list.RemainingItemCount)
				assert.Len(t, server.Requests(), 2)
			})
		}
	}
}

// Field names are case-sensitive in every answer. encoding/json alone folds their case.
func TestNamesOfAnotherCaseInAnswers(t *testing.T) {
	const list = `{"kind":"PodList","metadata":{"resourceVersion":"5","ResourceVersion":"6","Continue":"c"},"Meta` +
		`data":{"continue":"d"},"Kind":"Status","Items":[{}],"items":[{"metadata":{"name":"a","finalizers":["hold"],` +
		`"Finalizers":[]},"Metadata":{"name":"b"}}],"ITEMS":null}`
	for name, codec := range codecs {
		many, err := codec.List(strings.NewReader(list), 1<<20)
		require.NoError(t, err)
		want := &api.List[*api.PartialObjectMetadata]{TypeMeta: api.TypeMeta{Kind: "PodList"},
			ListMeta: api.ListMeta{ResourceVersion: "5"}, Items: []*api.PartialObjectMetadata{
				{ObjectMeta: api.ObjectMeta{Name: "a", Finalizers: []string{"hold"}}}}}
		assert.Equal(t, want, many, name)
		_, err = codec.List(strings.NewReader(`{"Items":[],"Kind":"PodList"}`), 1<<20)
		assert.ErrorContains(t, err, "expected a list",
			"a document with Items only is no list: it proves nothing to be empty")
	}
}

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

var transports = []restclient.WatchTransport{restclient.WatchHTTP, restclient.WatchWebSocket}

// overEachTransport runs a test with a watch served by serve: over chunked HTTP and over a
// websocket, each with every decoder. The expectations are the same. What an event may be is
// restclienttest.RunEvents's.
func overEachTransport(t *testing.T, serve func(*restclienttest.Stream), test func(*testing.T, *openWatch)) {
	t.Helper()
	for _, transport := range transports {
		for name, codec := range codecs {
			t.Run(string(transport)+", "+name, func(t *testing.T) {
				bubble(t, watches(serve), func(t *testing.T, server *restclienttest.Server) {
					client := server.Client(func(cfg *restclient.Config) {
						cfg.WatchTransport, cfg.MaxFrameBytes, cfg.Codec = transport, 10_000, codec
					})
					w := &openWatch{watchOf(t, client), client, server}
					defer w.Stop()
					test(t, w)
				})
			})
		}
	}
}

// openWatch is a watch with both of its ends.
type openWatch struct {
	api.Watcher[*api.PartialObjectMetadata]
	client *restclient.Client
	server *restclienttest.Server
}

// read returns the next event.
func (w *openWatch) read(t *testing.T) api.WatchEvent[*api.PartialObjectMetadata] {
	t.Helper()
	event, err := w.Next()
	require.NoError(t, err)
	return event
}

func TestWatchEvents(t *testing.T) {
	end := namespace("", "31")
	end.Annotations = map[string]string{api.InitialEventsAnnotation: "true"}
	expired := refusal(410, api.ReasonExpired, "too old resource version: 1 (100)")
	overEachTransport(t, func(s *restclienttest.Stream) {
		s.Send(api.WatchAdded, namespace("a", "1"))
		s.Send(api.WatchBookmark, end)
		s.Send("INVENTED", namespace("b", "33"))
		s.Send(api.WatchError, expired)
	}, func(t *testing.T, w *openWatch) {
		type event = api.WatchEvent[*api.PartialObjectMetadata]
		object := namespace("a", "1")
		for _, want := range []event{
			{Type: api.WatchAdded, ResourceVersion: "1",
				Object: &api.PartialObjectMetadata{TypeMeta: object.TypeMeta, ObjectMeta: object.ObjectMeta}},
			{Type: api.WatchBookmark, ResourceVersion: "31", InitialEventsEnd: true},
			{Type: "INVENTED", ResourceVersion: "33"},
			{Type: api.WatchError, Status: &expired},
		} {
			assert.Equal(t, want, w.read(t))
		}
		for range 2 {
			_, err := w.Next()
			assert.Equal(t, io.EOF, err, "the stream ended normally, and stays ended")
		}
	})
}

func TestWatchEventsThatCannotBeUnderstood(t *testing.T) {
	for frame, want := range map[string]string{ // regular expressions; restclienttest.RunEvents has the other frames
		`{"type":"ADDED"}`: "a watch event without an object",
		`hello`:            "invalid character 'h'|'h' at byte .* where { should be",
		`{"type":"ADDED","object":{"metadata":{"name":"` + strings.Repeat("x", 20_000) + `"}}}`: "a watch event " +
			"is larger than the limit of 10000 bytes",
	} {
		t.Run(frame[:min(len(frame), 40)], func(t *testing.T) {
			overEachTransport(t, func(s *restclienttest.Stream) {
				s.Send(api.WatchAdded, namespace("ok", "1"))
				s.SendRaw([]byte(frame))
				s.Wait()
			}, func(t *testing.T, w *openWatch) {
				w.read(t)
				_, err := w.Next()
				var wrong *restclient.DecodeError
				require.ErrorAs(t, err, &wrong)
				assert.Regexp(t, want, err.Error())
				assert.Equal(t, "http://apiserver.test/api/v1/pods?watch=true", wrong.URL)
				_, again := w.Next()
				assert.Equal(t, err, again, "after an error a watcher is used up")
				assert.Zero(t, w.client.Snapshot().Watches, "and has let go of its connection")
			})
		})
	}
}

func TestWatchThatBreaksOff(t *testing.T) {
	for _, c := range []struct {
		name, rest string
		normally   bool // the body ends as it should, but inside an event
	}{
		{"between two events", "", false},
		{"inside an event", `{"type":"ADDED","object":{"metadata":`, false},
		{"inside a string", `{"type":"ADDED","object":{"metadata":{"name":"x`, false},
		{"after the opening bracket", `{`, false},
		{"the body ends inside an event", `{"type":"ADDED","object":{`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			overEachTransport(t, func(s *restclienttest.Stream) {
				s.Send(api.WatchAdded, namespace("a", "1"))
				if c.rest != "" {
					s.SendRaw([]byte(c.rest))
				}
				time.Sleep(time.Second)
				if !c.normally {
					s.Break()
				}
			}, func(t *testing.T, w *openWatch) {
				w.read(t)
				_, err := w.Next()
				assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
				assertKind(t, restclient.ConnectionLost, err)
			})
		})
	}
}

func TestStopMakesABlockedNextReturn(t *testing.T) {
	overEachTransport(t, func(s *restclienttest.Stream) {
		s.Send(api.WatchAdded, namespace("a", "1"))
		s.Wait()
	}, func(t *testing.T, w *openWatch) {
		w.read(t)
		ended := make(chan error)
		go func() {
			_, err := w.Next()
			ended <- err
		}()
		synctest.Wait()
		assert.EqualValues(t, 1, w.client.Snapshot().Watches)
		var stops sync.WaitGroup
		for range 3 {
			stops.Go(w.Stop)
		}
		stops.Wait()
		assert.ErrorIs(t, <-ended, restclient.ErrWatchStopped)
		_, err := w.Next()
		assert.ErrorIs(t, err, restclient.ErrWatchStopped)
		assert.Zero(t, w.client.Snapshot().Watches)
		synctest.Wait()
		assert.Zero(t, w.server.Connections(), "a stopped watch frees its connection")
	})
}

// The decoder may have read the end of the body before Stop, as that of restclient/fast does.
func TestStopComesBeforeAnEndThatWasNotReported(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) { cfg.Codec = endedCodec{restclient.PlainCodec()} })
		w := watchOf(t, client)
		w.Stop()
		_, err := w.Next()
		assert.ErrorIs(t, err, restclient.ErrWatchStopped)
	})
}

// endedCodec has watches that have ended.
type endedCodec struct{ restclient.Codec }

func (c endedCodec) Events(io.Reader, int) restclient.EventDecoder[*api.PartialObjectMetadata] {
	return c
}

func (endedCodec) Next() (event api.WatchEvent[*api.PartialObjectMetadata], size int, err error) {
	return event, 0, io.EOF
}

func TestTheContextEndsAWatch(t *testing.T) {
	for _, transport := range transports {
		bubble(t, quiet, func(t *testing.T, server *restclienttest.Server) {
			client := server.Client(over(transport))
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			start := time.Now()
			w, err := podsOf(client).Watch(ctx, api.ListOptions{})
			require.NoError(t, err)
			_, err = w.Next()
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, time.Hour, time.Since(start))

			ctx, cancel = context.WithCancel(t.Context())
			w, err = podsOf(client).Watch(ctx, api.ListOptions{})
			require.NoError(t, err)
			time.AfterFunc(time.Minute, cancel)
			_, err = w.Next()
			assert.ErrorIs(t, err, context.Canceled)
			assertKind(t, restclient.Canceled, err)
		})
	}
}

func TestWebSocketHandshake(t *testing.T) {
	eachCodec(t, quiet, func(t *testing.T, c *restclient.Client, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) {
			cfg.Codec = c.Config().Codec
			cfg.WatchTransport = restclient.WatchWebSocket
			cfg.Host += "/prefix"
			cfg.Credentials = &tokens{list: []string{"s3cret"}}
		})
		w, err := restclient.Metadata(client, api.PodsResource, "a b").Watch(t.Context(),
			api.ListOptions{LabelSelector: "x=y"})
		require.NoError(t, err)
		w.Stop()
		r := server.Requests()[0]
		assert.Equal(t, "/prefix/api/v1/namespaces/a%20b/pods", r.Path)
		assert.Equal(t, "x=y", r.Query.Get("labelSelector"))
		assert.Equal(t, "http://apiserver.test", r.Header.Get("Origin"), "kube-apiserver answers 403 without it")
		assert.Equal(t, "Bearer s3cret", r.Header.Get("Authorization"))
		assert.Equal(t, partial, r.Header.Get("Accept"))
		assert.Equal(t, restclient.DefaultUserAgent(), r.Header.Get("User-Agent"))
		assert.Empty(t, r.Header.Get("Sec-Websocket-Protocol"))
	})
}

func TestWebSocketEnds(t *testing.T) {
	for _, c := range []struct {
		code  int
		clean bool
	}{
		{websocket.CloseNormalClosure, true},
		{websocket.CloseGoingAway, true},
		{websocket.CloseNoStatusReceived, true},
		{websocket.CloseInternalServerErr, false},
	} {
		handler := func(w http.ResponseWriter, r *http.Request) {
			upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
			ws, err := upgrader.Upgrade(w, r, nil)
			if err != nil {
				return
			}
			defer ws.Close()
			ws.WriteMessage(websocket.PingMessage, []byte("still there?"))
			ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(c.code, "the reason"))
		}
		bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
			_, err := watchOf(t, server.Client(webSocket)).Next()
			if c.clean {
				assert.Equal(t, io.EOF, err, "%d", c.code)
			} else {
				assert.ErrorContains(t, err, "the server closed the websocket with code 1011: the reason")
			}
		})
	}
}
