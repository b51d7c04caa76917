package apiserver

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/restclienttest"
)

// serveStream runs a server with one endpoint and returns a connection to it.
func serveStream(t *testing.T, watch func(eventStream)) net.Conn {
	t.Helper()
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := openStream(w, r); s != nil {
			watch(s)
		}
	}))
	conn, err := server.Dial(t.Context(), "tcp", "x")
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

const get = "GET / HTTP/1.1\r\nHost: x\r\n"

func dialWebSocket(t *testing.T, conn net.Conn) *websocket.Conn {
	t.Helper()
	dial := func(context.Context, string, string) (net.Conn, error) { return conn, nil }
	dialer := websocket.Dialer{NetDialContext: dial}
	ws, _, err := dialer.Dial("ws://x/", http.Header{"Origin": {"http://x"}})
	require.NoError(t, err)
	return ws
}

func TestADisconnectIsNoticed(t *testing.T) {
	for _, transport := range []string{"http", "websocket"} {
		t.Run(transport, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan struct{})
				conn := serveStream(t, func(s eventStream) {
					<-s.Gone()
					close(gone)
					s.End()
				})
				if transport == "http" {
					io.WriteString(conn, get+"\r\n")
				} else {
					dialWebSocket(t, conn)
				}
				synctest.Wait()
				conn.Close()
				<-gone
			})
		})
	}
}

// Pings are answered, and messages are discarded unless they are too large.
func TestClientMessagesAreDiscarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := dialWebSocket(t, serveStream(t, func(s eventStream) {
			<-s.Gone()
			s.End()
		}))
		pong := make(chan string, 1)
		ws.SetPongHandler(func(data string) error { pong <- data; return nil })
		require.NoError(t, ws.WriteMessage(websocket.TextMessage, []byte("hello")))
		require.NoError(t, ws.WriteControl(websocket.PingMessage, []byte("still there?"), time.Now().Add(time.Second)))
		ended := make(chan error, 1)
		go func() {
			_, _, err := ws.ReadMessage()
			ended <- err
		}()
		assert.Equal(t, "still there?", <-pong)
		require.NoError(t, ws.WriteMessage(websocket.TextMessage, make([]byte, 10000)))
		assert.Error(t, <-ended)
	})
}

// A client that does not read is cut after the write timeout.
func TestASlowClientIsCut(t *testing.T) {
	for _, transport := range []string{"http", "websocket"} {
		t.Run(transport, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				result := make(chan error, 1)
				var took time.Duration
				conn := serveStream(t, func(s eventStream) {
					line := []byte(strings.Repeat("x", 8<<10) + "\n")
					for begun := time.Now(); ; {
						if err := s.Send([][]byte{line}); err != nil {
							took = time.Since(begun)
							result <- err
							s.Break()
							return
						}
					}
				})
				if transport == "http" {
					io.WriteString(conn, get+"\r\n")
				} else {
					dialWebSocket(t, conn)
				}
				err := <-result
				assert.ErrorContains(t, err, "i/o timeout")
				assert.Equal(t, writeTimeout, took)
			})
		})
	}
}
