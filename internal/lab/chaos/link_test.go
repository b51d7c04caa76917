package chaos_test

import (
	"bytes"
	"io"
	"math/bits"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/chaos"
)

func TestWithoutFaultsEverythingPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		near, far := connect(t, &link)
		assert.NotEmpty(t, near.LocalAddr().String())
		send(t, near, "there")
		assert.Equal(t, "there", receive(t, far, 5))
		send(t, far, "and back")
		assert.Equal(t, "and ", receive(t, near, 4))
		assert.Equal(t, "back", receive(t, near, 4))
		n, err := near.Read(nil)
		assert.NoError(t, err)
		assert.Zero(t, n)
		require.NoError(t, far.Close())
		_, err = near.Read(make([]byte, 1))
		assert.Equal(t, io.EOF, err)
		assert.Equal(t, chaos.Snapshot{Open: 1}, link.Snapshot())
		require.NoError(t, near.Close())
		require.NoError(t, near.Close(), "a second Close is harmless")
		assert.Zero(t, link.Snapshot().Open)
	})
}

func TestBlackHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		near, far := connect(t, &link)
		unhurt, itsEnd := connect(t, &link)
		link.BlackHole(true)
		send(t, near, "lost")
		send(t, far, "lost as well")
		silent(t, near)
		require.NoError(t, far.SetReadDeadline(time.Now().Add(time.Millisecond)))
		_, err := far.Read(make([]byte, 1))
		assert.Error(t, err, "nothing arrives on the other side")
		require.NoError(t, far.SetReadDeadline(time.Time{}))

		link.Heal()
		send(t, near, "still dead")
		send(t, far, "still dead")
		silent(t, near)
		send(t, itsEnd, "alive")
		assert.Equal(t, "alive", receive(t, unhurt, 5), "a connection that lost nothing continues")
		const vanished = 4 + 12 + 10 + 10
		synctest.Wait() // all of it has been read ahead
		s := link.Snapshot()
		assert.Equal(t, 1, s.Dead)
		assert.EqualValues(t, vanished, s.Vanished)

		require.NoError(t, near.Close())
		_, err = far.Read(make([]byte, 1))
		assert.Equal(t, io.EOF, err, "the other end notices the close")
	})
}

func TestABlackHoleTakesUnreadBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		near, far := connect(t, &link)
		send(t, far, "never read")
		synctest.Wait()
		link.BlackHole(true, chaos.Received)
		assert.EqualValues(t, 10, link.Snapshot().Vanished)
		send(t, near, "passes")
		assert.Equal(t, "passes", receive(t, far, 6))
		far.Close()
		silent(t, near)
		link.Heal()
		silent(t, near)
	})
}

// Close, and a deadline set meanwhile, wake a reader waiting in a black hole.
func TestAWaitingReaderIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		near, _ := connect(t, &link)
		link.BlackHole(true)
		result := make(chan error)
		read := func() {
			_, err := near.Read(make([]byte, 1))
			result <- err
		}
		go read()
		require.NoError(t, near.SetDeadline(time.Now().Add(-time.Second)))
		var timeout net.Error
		require.ErrorAs(t, <-result, &timeout)
		assert.True(t, timeout.Timeout())
		require.NoError(t, near.SetDeadline(time.Time{}))
		go read()
		require.NoError(t, near.Close())
		assert.ErrorIs(t, <-result, net.ErrClosed)
		_, err := near.Write([]byte("x"))
		assert.ErrorIs(t, err, net.ErrClosed)
	})
}

func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		near, far := connect(t, &link)
		link.Stall(true)
		send(t, far, "late")
		far.Close()
		silent(t, near)
		link.Stall(false)
		assert.Equal(t, "late", receive(t, near, 4))
		_, err := near.Read(make([]byte, 1))
		assert.Equal(t, io.EOF, err)
	})
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		near, far := connect(t, &link)
		link.Delay(10*time.Second, 0)
		start := time.Now()
		send(t, far, "a")
		synctest.Wait() // read ahead
		time.Sleep(4 * time.Second)
		send(t, far, "b")
		assert.Equal(t, "a", receive(t, near, 1))
		assert.Equal(t, 10*time.Second, time.Since(start))
		assert.Equal(t, "b", receive(t, near, 1))
		assert.Equal(t, 14*time.Second, time.Since(start))

		link.Delay(10*time.Second, 10*time.Second)
		for range 20 {
			start = time.Now()
			send(t, far, "c")
			receive(t, near, 1)
			assert.GreaterOrEqual(t, time.Since(start), 10*time.Second)
			assert.Less(t, time.Since(start), 20*time.Second)
		}

		link.Delay(time.Hour, 0)
		send(t, far, "d")
		synctest.Wait()
		link.Delay(0, 0)
		start = time.Now()
		send(t, far, "e")
		assert.Equal(t, "de", receive(t, near, 2), "nothing overtakes")
		assert.Equal(t, time.Hour, time.Since(start))
		far.Close()
		link.Delay(time.Minute, 0)
		require.NoError(t, near.SetReadDeadline(time.Now().Add(time.Second)))
		_, err := near.Read(make([]byte, 1))
		assert.Equal(t, io.EOF, err)
	})
}

func TestDrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		near, far := connect(t, &link)
		link.Drip(100)
		send(t, far, strings.Repeat("x", 1000))
		start := time.Now()
		receive(t, near, 1000)
		assert.InDelta(t, 10, time.Since(start).Seconds(), 0.2)
		link.Drip(1)
		send(t, far, "abc")
		start = time.Now()
		n, err := near.Read(make([]byte, 100))
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		receive(t, near, 2)
		assert.InDelta(t, 2, time.Since(start).Seconds(), 0.2)
		link.Drip(0)
		send(t, far, "quick")
		start = time.Now()
		assert.Equal(t, "quick", receive(t, near, 5))
		assert.Zero(t, time.Since(start))
	})
}

func TestCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		near, far := connect(t, &link)
		waiting := make(chan error)
		go func() {
			_, err := near.Read(make([]byte, 1))
			waiting <- err
		}()
		link.Cut()
		assert.ErrorIs(t, <-waiting, syscall.ECONNRESET)
		_, err := near.Write([]byte("x"))
		assert.ErrorIs(t, err, syscall.ECONNRESET)
		_, err = far.Read(make([]byte, 1))
		assert.ErrorIs(t, err, syscall.ECONNRESET)
		require.NoError(t, near.Close())
		_, err = near.Read(make([]byte, 1))
		assert.ErrorIs(t, err, net.ErrClosed)
		link.Cut()

		near, far = connect(t, &link)
		send(t, far, "new")
		assert.Equal(t, "new", receive(t, near, 3))
	})
}

func TestCutAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		before, itsEnd := connect(t, &link)
		send(t, itsEnd, "not counted")
		receive(t, before, 11)
		link.CutAfter(5)
		after, other := connect(t, &link)
		for _, c := range [][2]net.Conn{{before, itsEnd}, {after, other}} {
			send(t, c[1], "1234567")
			got, err := io.ReadAll(c[0])
			assert.Equal(t, "12345", string(got))
			assert.ErrorIs(t, err, syscall.ECONNRESET)
		}
		link.CutAfter(0)
		near, far := connect(t, &link)
		send(t, far, "x")
		n, err := near.Read(make([]byte, 10))
		assert.Zero(t, n)
		assert.ErrorIs(t, err, syscall.ECONNRESET)
		link.CutAfter(-1)
		near, far = connect(t, &link)
		send(t, far, "whole again")
		receive(t, near, 11)
	})
}

func TestHalfClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		near, far := connect(t, &link)
		send(t, far, "before")
		assert.Equal(t, "before", receive(t, near, 6))
		waiting := make(chan error)
		go func() {
			_, err := near.Read(make([]byte, 1))
			waiting <- err
		}()
		link.HalfClose()
		assert.Equal(t, io.EOF, <-waiting)
		send(t, near, "still here")
		assert.Equal(t, "still here", receive(t, far, 10))
		send(t, far, "in vain")
		_, err := near.Read(make([]byte, 1))
		assert.Equal(t, io.EOF, err)
	})
}

func TestCorrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		near, far := connect(t, &link)
		link.Corrupt(10)
		sent := bytes.Repeat([]byte{0}, 95)
		for _, part := range [][]byte{sent[:3], sent[3:40], sent[40:]} { // the split makes no difference
			send(t, far, string(part))
			got := []byte(receive(t, near, len(part)))
			copy(part, got)
		}
		flipped := 0
		for i, b := range sent {
			flipped += bits.OnesCount8(b)
			assert.Equal(t, (i+1)%10 == 0, b != 0, "byte %d", i)
		}
		assert.Equal(t, 9, flipped)
		link.Heal()
		send(t, far, "intact")
		assert.Equal(t, "intact", receive(t, near, 6))
	})
}

func TestHealSwitchesEverythingOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		near, far := connect(t, &link)
		link.BlackHole(true)
		link.Stall(true)
		link.Delay(time.Second, time.Second)
		link.Drip(5)
		link.CutAfter(7)
		link.Corrupt(9)
		link.Refuse(true)
		link.Heal()
		began := time.Now()
		send(t, near, "there in one piece")
		assert.Equal(t, "there in one piece", receive(t, far, 18))
		send(t, far, "back in one piece")
		assert.Equal(t, "back in one piece", receive(t, near, 17))
		connect(t, &link)
		assert.Zero(t, time.Since(began))
		assert.Equal(t, chaos.Snapshot{Open: 2}, link.Snapshot())
	})
}

// All methods concurrently, for the race detector; nothing may be leaked.
func TestFaultsComeAtAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var link chaos.Link
		for range 8 {
			near, far := connect(t, &link)
			go io.Copy(far, far) // echoes
			done := make(chan struct{}, 2)
			go func() {
				defer func() { done <- struct{}{} }()
				for range 50 {
					if _, err := near.Write([]byte("ping")); err != nil {
						return
					}
				}
			}()
			go func() {
				defer func() { done <- struct{}{} }()
				io.Copy(io.Discard, near)
			}()
			for _, fault := range []func(){
				func() { link.Delay(time.Millisecond, time.Millisecond) }, func() { link.Drip(1 << 20) },
				func() { link.Stall(true) },
				func() { link.Corrupt(3) }, func() { link.BlackHole(true, chaos.Sent) }, link.HalfClose, link.Heal,
				func() { link.CutAfter(100) }, link.Cut, link.Heal,
			} {
				fault()
				link.Snapshot()
			}
			<-done
			<-done
		}
	})
}
