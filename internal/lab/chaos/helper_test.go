package chaos_test

import (
	"context"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/internal/lab/chaos"
)

// connect returns a connection over the link, in memory, and its plain far end. Both are closed at
// the end of the test.
func connect(t *testing.T, link *chaos.Link) (near, far net.Conn) {
	inner, far := chaos.Pipe()
	dial := link.Dial(func(context.Context, string, string) (net.Conn, error) { return inner, nil })
	near, err := dial(t.Context(), "tcp", "far")
	require.NoError(t, err)
	t.Cleanup(func() { near.Close(); far.Close() })
	return near, far
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	n, err := io.WriteString(conn, text)
	require.NoError(t, err)
	require.Equal(t, len(text), n)
}

func receive(t *testing.T, conn net.Conn, n int) string {
	t.Helper()
	p := make([]byte, n)
	_, err := io.ReadFull(conn, p)
	require.NoError(t, err)
	return string(p)
}

// silent asserts that nothing can be read for a moment (any length in a bubble).
func silent(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	_, err := conn.Read(make([]byte, 1))
	var timeout net.Error
	require.ErrorAs(t, err, &timeout)
	require.True(t, timeout.Timeout())
	require.NoError(t, conn.SetReadDeadline(time.Time{}))
}

// requireReset connects and expects a reset, at once or at the first read, since the reset may
// precede the return of connect.
func requireReset(t *testing.T, address string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err == nil {
		defer conn.Close()
		_, err = conn.Read(make([]byte, 1))
	}
	require.ErrorIs(t, err, syscall.ECONNRESET)
}
