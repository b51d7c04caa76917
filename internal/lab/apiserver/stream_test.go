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

// oneConn is a listener with one connection.
type oneConn struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *oneConn) Close() error {
	close(l.done)
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// getHTTP2 sends a request to a server over HTTP/2.
func getHTTP2(t *testing.T, watch func(eventStream)) *http.Response {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	theirs, ours := net.Pipe()
	listener := &oneConn{conns: make(chan net.Conn, 1), done: make(chan struct{})}
	listener.conns <- ours
	server := &http.Server{
		Protocols: protocols, ConnContext: withConnection,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { watch(openStream(w, r)) }),
	}
	go server.Serve(listener)
	transport := &http.Transport{
		Protocols:   protocols,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return theirs, nil },
	}
	response, err := (&http.Client{Transport: transport}).Get("http://x/")
	require.NoError(t, err)
	t.Cleanup(func() {
		response.Body.Close()
		transport.CloseIdleConnections()
		require.NoError(t, server.Shutdown(context.Background()))
	})
	assert.Equal(t, 2, response.ProtoMajor)
	return response
}

// Over HTTP/2 an expired write deadline ends a stream. A watch in a quiet cluster ended after half
// a minute, with an error after which client-go backs off.
func TestQuietStreamsSurviveOverHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		response := getHTTP2(t, func(s eventStream) {
			for range 3 {
				time.Sleep(5 * writeTimeout)
				if s.Send([][]byte{[]byte("still here\n")}) != nil {
					return
				}
			}
			s.End()
		})
		text, err := io.ReadAll(response.Body)
		assert.NoError(t, err)
		assert.Equal(t, strings.Repeat("still here\n", 3), string(text))
	})
}

// The end of a single HTTP/2 stream is an error from the server, after which client-go lists again.
// After a broken connection it resumes.
func TestBrokenConnectionsOverHTTP2(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(eventStream)
		want string
	}{
		"broken":  {eventStream.Break, "unexpected EOF"},
		"aborted": {eventStream.Abort, "stream error: stream ID 1; INTERNAL_ERROR; received from peer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				read := make(chan struct{})
				response := getHTTP2(t, func(s eventStream) {
					require.NoError(t, s.Send([][]byte{[]byte("one\n")}))
					<-read // unread data may be lost when a connection breaks
					test.end(s)
				})
				text := make([]byte, len("one\n"))
				_, err := io.ReadFull(response.Body, text)
				require.NoError(t, err)
				assert.Equal(t, "one\n", string(text))
				close(read)
				_, err = io.ReadAll(response.Body)
				assert.EqualError(t, err, test.want)
			})
		})
	}
}
