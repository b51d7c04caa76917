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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
