package deletion

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// Data arrives in order after the delay, with any amount in flight: ten pieces sent within ten
// milliseconds do not wait for each other.
func TestEachPieceIsLateByTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, relayIn := net.Pipe()
		relayOut, server := net.Pipe()
		var running sync.WaitGroup
		running.Go(func() { carryLate(relayOut, relayIn, 50*time.Millisecond); relayOut.Close() })

		var sent, arrived []time.Time
		running.Go(func() {
			for range 10 {
				sent = append(sent, time.Now())
				_, _ = client.Write([]byte("x"))
				time.Sleep(time.Millisecond)
			}
			client.Close()
		})
		for {
			if _, err := server.Read(make([]byte, 1)); err != nil {
				break
			}
			arrived = append(arrived, time.Now())
		}
		running.Wait()
		require.Len(t, arrived, 10)
		for i := range arrived {
			assert.Equal(t, 50*time.Millisecond, arrived[i].Sub(sent[i]), "piece %d", i)
		}
	})
}

// upperCase serves an echo in upper case.
func upperCase(t *testing.T) (address string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				lines := bufio.NewScanner(conn)
				for lines.Scan() {
					_, _ = io.WriteString(conn, strings.ToUpper(lines.Text())+"\n")
				}
			})
		}
	})
	t.Cleanup(func() { listener.Close(); running.Wait() })
	return listener.Addr().String()
}

func TestRelayPassesConnectionsOn(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("", func(t *testing.T) {
		r, err := startRelay(upperCase(t), time.Millisecond)
		require.NoError(t, err)
		defer r.stop()
		for range 3 {
			conn, err := net.Dial("tcp", r.address())
			require.NoError(t, err)
			_, err = io.WriteString(conn, "one\ntwo\n")
			require.NoError(t, err)
			answers := bufio.NewScanner(conn)
			for _, want := range []string{"ONE", "TWO"} {
				require.True(t, answers.Scan())
				assert.Equal(t, want, answers.Text())
			}
			require.NoError(t, conn.Close())
		}
	})
}

// Stopping the relay closes its open connections.
func TestRelayStops(t *testing.T) {
	r, err := startRelay(upperCase(t), 0)
	require.NoError(t, err)
	conn, err := net.Dial("tcp", r.address())
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "one\n")
	require.NoError(t, err)
	_, err = bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	r.stop()
	_, err = conn.Read(make([]byte, 1))
	assert.Error(t, err)
	_, err = net.Dial("tcp", r.address())
	assert.Error(t, err)
}

func TestRelayWithoutTargetClosesTheConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listener.Close() // a port without a listener
	r, err := startRelay(listener.Addr().String(), 0)
	require.NoError(t, err)
	defer r.stop()
	conn, err := net.Dial("tcp", r.address())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Read(make([]byte, 1))
	assert.ErrorIs(t, err, io.EOF)
}
