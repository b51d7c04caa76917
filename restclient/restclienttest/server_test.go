package restclienttest_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

func hello(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"gitVersion":"v0"}`) }

func TestRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := restclienttest.NewServer(t, http.HandlerFunc(hello))
		client := server.Client()
		server.Refuse(true)
		assert.ErrorIs(t, client.Do(t.Context(), restclient.Request{Path: "/"}, nil), syscall.ECONNREFUSED)
		server.Refuse(false)
		assert.NoError(t, client.Do(t.Context(), restclient.Request{Path: "/a"}, nil))
		assert.Equal(t, "/a", server.Requests()[0].Path)
		assert.Equal(t, 1, server.Dialled())
	})
}

func TestFaultsOfOpenConnections(t *testing.T) {
	watch := func(w http.ResponseWriter, r *http.Request) {
		restclienttest.ServeWatch(w, r, restclienttest.TextFrames, func(s *restclienttest.Stream) {
			for i := 0; s.Send(api.WatchBookmark, map[string]any{"metadata": map[string]any{"resourceVersion": fmt.Sprint(i)}}) == nil; i++ {
				time.Sleep(time.Second)
			}
		})
	}
	for _, transport := range []restclient.WatchTransport{restclient.WatchHTTP, restclient.WatchWebSocket} {
		synctest.Test(t, func(t *testing.T) {
			server := restclienttest.NewServer(t, http.HandlerFunc(watch))
			pods := restclient.Metadata(server.Client(func(cfg *restclient.Config) { cfg.WatchTransport = transport }), api.PodsResource, "")
			open := func() api.Watcher[*api.PartialObjectMetadata] {
				w, err := pods.Watch(t.Context(), api.ListOptions{})
				require.NoError(t, err)
				_, err = w.Next()
				require.NoError(t, err)
				return w
			}
			w := open()
			server.CloseConnections()
			_, err := w.Next()
			var broken *restclient.TransportError
			require.ErrorAs(t, err, &broken)
			assert.Equal(t, restclient.ConnectionLost, broken.Kind)

			w = open()
			server.Silence()
			silence := time.AfterFunc(time.Hour, w.Stop)
			start := time.Now()
			_, err = w.Next()
			if transport == restclient.WatchHTTP {
				assert.ErrorIs(t, err, restclient.ErrWatchStopped, "nothing else ends it")
				assert.Equal(t, time.Hour, time.Since(start))
			} else {
				require.ErrorAs(t, err, &broken)
				assert.Equal(t, restclient.ConnectionDead, broken.Kind, "a websocket is pinged")
			}
			silence.Stop()

			open().Stop() // a new connection works
		})
	}
}

// A deadline is local to the reader; it expires on a dead link as well.
func TestASilentLinkHasDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := restclienttest.NewServer(t, http.HandlerFunc(hello))
		conn, err := server.Dial(t.Context(), "tcp", "anywhere:80")
		require.NoError(t, err)
		server.Silence()
		n, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		assert.Equal(t, 27, n)
		start := time.Now()
		conn.SetDeadline(start.Add(time.Minute))
		_, err = conn.Read(make([]byte, 1))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, time.Minute, time.Since(start))
		assert.Empty(t, server.Requests())
		assert.NoError(t, conn.Close())
	})
}

func TestWebSocketNeedsAnOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			restclienttest.ServeWatch(w, r, restclienttest.TextFrames, func(*restclienttest.Stream) {})
		}))
		header := http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}}
		err := server.Client().Do(t.Context(), restclient.Request{Path: "/", Header: header}, nil)
		assert.True(t, api.IsForbidden(err), "%v", err)
		header.Set("Origin", "http://x")
		header.Del("Sec-Websocket-Key")
		err = server.Client().Do(t.Context(), restclient.Request{Path: "/", Header: header}, nil)
		assert.True(t, api.IsBadRequest(err), "%v", err)
	})
}

func TestPipesBehaveLikeConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := make(chan net.Conn, 1)
		server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if assert.NoError(t, err) {
				far <- conn
			}
		}))
		near, err := server.Dial(t.Context(), "tcp", "anywhere:80")
		require.NoError(t, err)
		io.WriteString(near, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		other := <-far
		assert.Equal(t, "pipe", near.RemoteAddr().Network())
		assert.Equal(t, "pipe", near.LocalAddr().String())

		// A deadline ends a blocked call, unless it was reset.
		start := time.Now()
		near.SetReadDeadline(start.Add(time.Minute))
		_, err = near.Read(make([]byte, 1))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, time.Minute, time.Since(start))
		near.SetDeadline(time.Time{})
		go func() {
			time.Sleep(time.Hour)
			io.WriteString(other, "late")
		}()
		got := make([]byte, 10)
		n, err := near.Read(got)
		require.NoError(t, err)
		assert.Equal(t, "late", string(got[:n]))

		// The buffer is finite: a writer blocks while its reader does not read.
		near.SetWriteDeadline(time.Now().Add(time.Minute))
		n, err = near.Write(make([]byte, 1<<20))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, 64<<10, n)

		// Data written before a close can still be read, then the stream ends; writing to it
		// fails.
		io.WriteString(other, "goodbye")
		other.Close()
		all, err := io.ReadAll(near)
		require.NoError(t, err)
		assert.Equal(t, "goodbye", string(all))
		near.SetDeadline(time.Time{})
		_, err = near.Write([]byte("x"))
		assert.ErrorIs(t, err, io.ErrClosedPipe)
		_, err = other.Read(got)
		assert.ErrorIs(t, err, net.ErrClosed)
		_, err = other.Write(got)
		assert.ErrorIs(t, err, net.ErrClosed)
		near.Close()
		assert.Zero(t, server.Connections())
	})
}

func TestDialEndsWithTheServer(t *testing.T) {
	var server *restclienttest.Server
	t.Run("the server's test", func(t *testing.T) {
		server = restclienttest.NewServer(t, http.HandlerFunc(hello))
	})
	_, err := server.Dial(context.Background(), "tcp", "x")
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
}

func TestCertificates(t *testing.T) {
	authority := restclienttest.NewAuthority(t)
	leaf := authority.Issue(t, restclienttest.Leaf{Name: "joe", Groups: []string{"devs"}, Hosts: []string{"10.0.0.1", "a.test"}}).Leaf
	assert.Equal(t, "joe", leaf.Subject.CommonName)
	assert.Equal(t, []string{"devs"}, leaf.Subject.Organization)
	assert.Equal(t, "10.0.0.1", leaf.IPAddresses[0].String())
	assert.NoError(t, leaf.VerifyHostname("a.test"))
	expired := authority.Issue(t, restclienttest.Leaf{Valid: -time.Minute}).Leaf
	assert.True(t, expired.NotAfter.Before(time.Now()))
	assert.True(t, expired.NotBefore.Before(expired.NotAfter))
}
