package restclient_test

import (
	"context"
	"io"
	"net/http"
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
	"orrery/restclient/restclienttest"
)

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
