package faultnet_test

import (
	"context"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/faultnet"
)

func dialPipe(context.Context, string, string) (net.Conn, error) {
	near, _ := faultnet.Pipe()
	return near, nil
}

func TestRefusedDials(t *testing.T) {
	var link faultnet.Link
	dial := link.Dial(dialPipe)
	link.Refuse(true)
	_, err := dial(t.Context(), "tcp", "server:443")
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	assert.EqualError(t, err, "dial tcp server:443: connection refused")
	assert.Equal(t, 1, link.Snapshot().Refused)
	link.Refuse(false)
	conn, err := dial(t.Context(), "tcp", "server:443")
	require.NoError(t, err)
	conn.Close()
}

func TestDialsIntoABlackHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link faultnet.Link
		dial := link.Dial(dialPipe)
		link.BlackHole(true)
		link.Refuse(true)
		start := time.Now()
		_, err := dial(t.Context(), "tcp", "server:443")
		assert.ErrorIs(t, err, syscall.ETIMEDOUT)
		assert.Equal(t, 30*time.Second, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = dial(ctx, "tcp", "server:443")
		assert.ErrorIs(t, err, context.DeadlineExceeded)

		time.AfterFunc(10*time.Second, link.Heal)
		start = time.Now()
		conn, err := dial(t.Context(), "tcp", "server:443")
		require.NoError(t, err)
		assert.Equal(t, 10*time.Second, time.Since(start))
		conn.Close()
	})
}

func TestADialThatFailsByItself(t *testing.T) {
	var link faultnet.Link
	_, err := link.Dial(func(context.Context, string, string) (net.Conn, error) { return nil, syscall.EMFILE })(t.Context(), "tcp", "x")
	assert.ErrorIs(t, err, syscall.EMFILE)
	assert.Zero(t, link.Snapshot().Opened)
}

func TestListener(t *testing.T) {
	var link faultnet.Link
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := link.Listener(inner)
	accepted := make(chan net.Conn)
	ended := make(chan error, 1)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- conn
		}
	}()
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	link.Refuse(true)
	requireReset(t, l.Addr().String())
	assert.Equal(t, 1, link.Snapshot().Refused)
	link.Refuse(false)
	client := dial()
	server := <-accepted
	defer server.Close()
	link.Corrupt(1)
	send(t, client, "a")
	assert.Equal(t, "`", receive(t, server, 1))
	require.NoError(t, l.Close())
	assert.ErrorIs(t, <-ended, net.ErrClosed)
}
