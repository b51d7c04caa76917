package chaos_test

import (
	"context"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
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

// receives asserts that the text arrives.
func receives(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	p := make([]byte, len(text))
	_, err := io.ReadFull(conn, p)
	require.NoError(t, err)
	require.Equal(t, text, string(p))
}

// ends asserts that the next read fails in this way.
func ends(t *testing.T, conn net.Conn, how error) {
	t.Helper()
	n, err := conn.Read(make([]byte, 1))
	assert.Zero(t, n)
	assert.ErrorIs(t, err, how)
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

// took asserts how long something takes.
func took(t *testing.T, want time.Duration, do func()) {
	t.Helper()
	began := time.Now()
	do()
	assert.InDelta(t, want.Seconds(), time.Since(began).Seconds(), 0.2)
}

// faults are the faults of a link and what each does to a connection.
var faults = []struct {
	name string
	test func(t *testing.T, link *chaos.Link, near, far net.Conn)
}{
	{"none", func(t *testing.T, link *chaos.Link, near, far net.Conn) {
		send(t, near, "there")
		receives(t, far, "there")
		send(t, far, "and back")
		receives(t, near, "and ")
		receives(t, near, "back")
		n, err := near.Read(nil)
		assert.NoError(t, err)
		assert.Zero(t, n)
		require.NoError(t, far.Close())
		ends(t, near, io.EOF)
		assert.Equal(t, chaos.Snapshot{Open: 1}, link.Snapshot())
		require.NoError(t, near.Close())
		require.NoError(t, near.Close(), "a second Close is harmless")
		assert.Zero(t, link.Snapshot().Open)
	}},
	{"black hole", func(t *testing.T, link *chaos.Link, near, far net.Conn) {
		unhurt, itsEnd := connect(t, link)
		link.BlackHole(true)
		send(t, near, "lost")
		send(t, far, "lost as well")
		silent(t, near)
		silent(t, far)
		link.Heal()
		send(t, near, "still dead")
		send(t, far, "still dead")
		silent(t, near)
		silent(t, far)
		send(t, itsEnd, "alive")
		receives(t, unhurt, "alive") // a connection that lost nothing continues
		assert.Equal(t, chaos.Snapshot{Open: 2, Dead: 1}, link.Snapshot())
		require.NoError(t, near.Close())
		ends(t, far, io.EOF) // the other end notices the close
	}},
	{"black hole in one direction, for unread bytes too", func(t *testing.T, link *chaos.Link, near, far net.Conn) {
		send(t, far, "never read")
		synctest.Wait()
		link.BlackHole(true, chaos.Received)
		send(t, near, "passes")
		receives(t, far, "passes")
		far.Close()
		silent(t, near)
		link.Heal()
		silent(t, near)
	}},
	{"stall", func(t *testing.T, link *chaos.Link, near, far net.Conn) {
		link.Stall(true)
		send(t, far, "late")
		far.Close()
		silent(t, near)
		link.Stall(false)
		receives(t, near, "late")
		ends(t, near, io.EOF)
	}},
	{"delay", func(t *testing.T, link *chaos.Link, near, far net.Conn) {
		link.Delay(10 * time.Second)
		send(t, far, "a")
		synctest.Wait() // read ahead
		time.Sleep(4 * time.Second)
		send(t, far, "b")
		took(t, 6*time.Second, func() { receives(t, near, "a") })
		took(t, 4*time.Second, func() { receives(t, near, "b") })
		link.Delay(time.Hour)
		send(t, far, "d")
		synctest.Wait()
		link.Delay(0)
		send(t, far, "e")
		took(t, time.Hour, func() { receives(t, near, "de") }) // nothing overtakes
		link.Delay(time.Minute)
		far.Close()
		took(t, 0, func() { ends(t, near, io.EOF) })
	}},
	{"cut", func(t *testing.T, link *chaos.Link, near, far net.Conn) {
		time.AfterFunc(time.Second, link.Cut)
		ends(t, near, syscall.ECONNRESET) // while it waits
		_, err := near.Write([]byte("x"))
		assert.ErrorIs(t, err, syscall.ECONNRESET)
		ends(t, far, syscall.ECONNRESET)
		require.NoError(t, near.Close())
		ends(t, near, net.ErrClosed)
		link.Cut()
		near, far = connect(t, link)
		send(t, far, "new")
		receives(t, near, "new")
	}},
	{"cut after some bytes", func(t *testing.T, link *chaos.Link, near, far net.Conn) {
		send(t, far, "not counted")
		receives(t, near, "not counted")
		link.CutAfter(5)
		later, other := connect(t, link)
		for _, c := range [][2]net.Conn{{near, far}, {later, other}} {
			send(t, c[1], "1234567")
			receives(t, c[0], "12345")
			ends(t, c[0], syscall.ECONNRESET)
		}
		link.CutAfter(0)
		near, far = connect(t, link)
		send(t, far, "x")
		ends(t, near, syscall.ECONNRESET)
		link.CutAfter(-1)
		near, far = connect(t, link)
		send(t, far, "whole again")
		receives(t, near, "whole again")
	}},
	{"half-close", func(t *testing.T, link *chaos.Link, near, far net.Conn) {
		send(t, far, "before")
		receives(t, near, "before")
		time.AfterFunc(time.Second, link.HalfClose)
		ends(t, near, io.EOF)
		send(t, near, "still here")
		receives(t, far, "still here")
		send(t, far, "in vain")
		ends(t, near, io.EOF)
	}},
	{"all, healed", func(t *testing.T, link *chaos.Link, near, far net.Conn) {
		link.BlackHole(true)
		link.Stall(true)
		link.Delay(time.Second)
		link.CutAfter(7)
		link.Refuse(true)
		link.Heal()
		took(t, 0, func() {
			send(t, near, "there in one piece")
			receives(t, far, "there in one piece")
			send(t, far, "back in one piece")
			receives(t, near, "back in one piece")
			connect(t, link)
		})
		assert.Equal(t, chaos.Snapshot{Open: 2}, link.Snapshot())
		for range 2 {
			link.CutAfter(5)
			send(t, far, "123")
			_, err := io.ReadFull(near, make([]byte, 3))
			require.NoError(t, err, "CutAfter renews what an open connection may receive, after Heal as well")
			link.Heal()
		}
	}},
}

func TestFaultsOfALink(t *testing.T) {
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var link chaos.Link
				near, far := connect(t, &link)
				fault.test(t, &link, near, far)
			})
		})
	}
}

// Close, and a deadline set meanwhile, wake a reader waiting in a black hole.
func TestAWaitingReaderIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		near, _ := connect(t, &link)
		link.BlackHole(true)
		time.AfterFunc(time.Second, func() { near.SetDeadline(time.Now().Add(-time.Second)) })
		var timeout net.Error
		_, err := near.Read(make([]byte, 1))
		require.ErrorAs(t, err, &timeout)
		assert.True(t, timeout.Timeout())
		require.NoError(t, near.SetDeadline(time.Time{}))
		time.AfterFunc(time.Second, func() { near.Close() })
		ends(t, near, net.ErrClosed)
		_, err = near.Write([]byte("x"))
		assert.ErrorIs(t, err, net.ErrClosed)
	})
}

func TestDials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		inner := error(nil)
		dial := func(ctx context.Context) error {
			conn, err := link.Dial(func(context.Context, string, string) (net.Conn, error) {
				near, _ := chaos.Pipe()
				return near, inner
			})(ctx, "tcp", "server:443")
			if err == nil {
				conn.Close()
			}
			return err
		}
		link.Refuse(true)
		err := dial(t.Context())
		assert.ErrorIs(t, err, syscall.ECONNREFUSED)
		assert.EqualError(t, err, "dial tcp server:443: connection refused")
		link.BlackHole(true)
		took(t, 30*time.Second, func() { assert.ErrorIs(t, dial(t.Context()), syscall.ETIMEDOUT) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorIs(t, dial(ctx), context.DeadlineExceeded)
		time.AfterFunc(10*time.Second, link.Heal)
		took(t, 10*time.Second, func() { assert.NoError(t, dial(t.Context())) })
		inner = syscall.EMFILE
		assert.ErrorIs(t, dial(t.Context()), syscall.EMFILE)
		assert.Zero(t, link.Snapshot().Open)
	})
}
