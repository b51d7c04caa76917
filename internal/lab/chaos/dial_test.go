package chaos_test

import (
	"context"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/chaos"
)

func dialPipe(context.Context, string, string) (net.Conn, error) {
	near, _ := chaos.Pipe()
	return near, nil
}

func TestRefusedDials(t *testing.T) {
	var link chaos.Link
	dial := link.Dial(dialPipe)
	link.Refuse(true)
	_, err := dial(t.Context(), "tcp", "server:443")
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	assert.EqualError(t, err, "dial tcp server:443: connection refused")
	link.Refuse(false)
	conn, err := dial(t.Context(), "tcp", "server:443")
	require.NoError(t, err)
	conn.Close()
}

func TestDialsIntoABlackHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
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
	var link chaos.Link
	_, err := link.Dial(func(context.Context, string,
		string) (net.Conn, error) {
		return nil, syscall.EMFILE
	})(t.Context(), "tcp", "x")
	assert.ErrorIs(t, err, syscall.EMFILE)
	assert.Zero(t, link.Snapshot().Open)
}
