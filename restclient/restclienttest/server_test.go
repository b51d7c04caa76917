package restclienttest_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/restclienttest"
)

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
