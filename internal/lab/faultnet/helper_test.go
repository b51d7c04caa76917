package faultnet_test

import (
	"context"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/internal/lab/faultnet"
)

// world makes connections, over pipes or TCP; the faults must work on both.
type world struct {
	name string
	run  func(t *testing.T, test func(t *testing.T, w world))
	pair func(t *testing.T) (near, far net.Conn)
}

var worlds = []world{
	{"pipe", inBubble, func(t *testing.T) (net.Conn, net.Conn) { return faultnet.Pipe() }},
	{"loopback", func(t *testing.T, test func(*testing.T, world)) { test(t, worldOf("loopback")) }, loopback},
}

func inBubble(t *testing.T, test func(*testing.T, world)) {
	synctest.Test(t, func(t *testing.T) { test(t, worldOf("pipe")) })
}

func worldOf(name string) world {
	if name == "pipe" {
		return world{name: name, pair: func(t *testing.T) (net.Conn, net.Conn) { return faultnet.Pipe() }}
	}
	return world{name: name, pair: loopback}
}

// everywhere runs a test over pipes in a bubble and over TCP.
func everywhere(t *testing.T, test func(t *testing.T, w world)) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) { w.run(t, test) })
	}
}

func loopback(t *testing.T) (near, far net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			close(accepted)
			return
		}
		accepted <- conn
	}()
	near, err = net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	far, ok := <-accepted
	require.True(t, ok)
	return near, far
}

// connect returns a connection over the link and its plain far end, both closed at the end of the
// test.
func (w world) connect(t *testing.T, link *faultnet.Link) (near, far net.Conn) {
	inner, far := w.pair(t)
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
