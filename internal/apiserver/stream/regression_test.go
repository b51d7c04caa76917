package stream_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/apiserver/stream"
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

// Over HTTP/2 a deadline for writes ends a stream by itself, so a watch in a quiet cluster ended after half a minute, with an
// error that client-go backs off from.
func TestQuietStreamsLiveOverHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		protocols := new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
		theirs, ours := net.Pipe()
		listener := &oneConn{conns: make(chan net.Conn, 1), done: make(chan struct{})}
		listener.conns <- ours
		server := &http.Server{Protocols: protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s := stream.Open(w, r)
			for range 3 {
				time.Sleep(5 * stream.WriteTimeout)
				if s.Send([][]byte{[]byte("still here\n")}) != nil {
					return
				}
			}
			s.End()
		})}
		go server.Serve(listener)
		transport := &http.Transport{
			Protocols:   protocols,
			DialContext: func(context.Context, string, string) (net.Conn, error) { return theirs, nil },
		}
		response, err := (&http.Client{Transport: transport}).Get("http://x/")
		require.NoError(t, err)
		assert.Equal(t, 2, response.ProtoMajor)
		lines := bufio.NewScanner(response.Body)
		count := 0
		for lines.Scan() {
			count++
		}
		assert.NoError(t, lines.Err())
		assert.Equal(t, 3, count)
		response.Body.Close()
		transport.CloseIdleConnections()
		require.NoError(t, server.Shutdown(t.Context()))
	})
}
