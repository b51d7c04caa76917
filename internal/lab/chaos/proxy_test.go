package chaos_test

import (
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"orrery/internal/lab/chaos"
)

// target is a server that hands out the connections it accepts.
func target(t *testing.T) (address string, accepted <-chan net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	conns := make(chan net.Conn)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns <- conn
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String(), conns
}

type proxied struct {
	proxy    *chaos.Proxy
	link     chaos.Link
	accepted <-chan net.Conn
}

func newProxied(t *testing.T) *proxied {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	address, accepted := target(t)
	p := &proxied{accepted: accepted}
	var err error
	p.proxy, err = chaos.NewProxy("127.0.0.1:0", address, &p.link)
	require.NoError(t, err)
	t.Cleanup(func() { p.proxy.Close() })
	return p
}

func (p *proxied) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.proxy.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func (p *proxied) connect(t *testing.T) (client, server net.Conn) {
	t.Helper()
	client = p.dial(t)
	server = <-p.accepted
	t.Cleanup(func() { server.Close() })
	send(t, client, "!") // when this has arrived the proxy has both ends
	receive(t, server, 1)
	return client, server
}

func TestProxyPassesOn(t *testing.T) {
	p := newProxied(t)
	client, server := p.connect(t)
	send(t, client, "question")
	assert.Equal(t, "question", receive(t, server, 8))
	require.NoError(t, client.(*net.TCPConn).CloseWrite())
	_, err := server.Read(make([]byte, 1))
	assert.Equal(t, io.EOF, err, "a half-closed connection is half-closed beyond the proxy")
	send(t, server, "answer")
	require.NoError(t, server.Close())
	got, err := io.ReadAll(client)
	require.NoError(t, err)
	assert.Equal(t, "answer", string(got))
}

func TestACutReachesBothEndsOfAProxy(t *testing.T) {
	p := newProxied(t)
	client, server := p.connect(t)
	send(t, client, "x")
	receive(t, server, 1)
	p.link.Cut()
	_, err := client.Read(make([]byte, 1))
	assert.ErrorIs(t, err, syscall.ECONNRESET)
	_, err = server.Read(make([]byte, 1))
	assert.ErrorIs(t, err, syscall.ECONNRESET)

	client, server = p.connect(t)
	server.(*net.TCPConn).SetLinger(0)
	server.Close()
	_, err = client.Read(make([]byte, 1))
	assert.ErrorIs(t, err, syscall.ECONNRESET, "a reset by the server")
	client, server = p.connect(t)
	client.(*net.TCPConn).SetLinger(0)
	client.Close()
	_, err = server.Read(make([]byte, 1))
	assert.ErrorIs(t, err, syscall.ECONNRESET, "a reset by the client")
}

func TestProxyWithFaults(t *testing.T) {
	p := newProxied(t)
	client, server := p.connect(t)
	p.link.BlackHole(true)
	send(t, server, "lost")
	send(t, client, "lost")
	silent(t, client)
	silent(t, server)
	client.Close()
	_, err := io.ReadAll(server)
	assert.Error(t, err, "no connection is left after the client has given up")

	client = p.dial(t) // hangs in the hole: the proxy itself has accepted it
	send(t, client, "greeting")
	silent(t, client)
	p.link.Heal()
	server = <-p.accepted
	defer server.Close()
	assert.Equal(t, "greeting", receive(t, server, 8))

	p.link.HalfClose()
	_, err = client.Read(make([]byte, 1))
	assert.Equal(t, io.EOF, err)
	send(t, client, "more")
	assert.Equal(t, "more", receive(t, server, 4))

	p.link.Refuse(true)
	requireReset(t, p.proxy.Addr().String())
}

func TestProxyCloses(t *testing.T) {
	p := newProxied(t)
	client, server := p.connect(t)
	p.link.BlackHole(true)
	hanging := p.dial(t)
	require.NoError(t, p.proxy.Close())
	for name, conn := range map[string]net.Conn{"client": client, "server": server, "hanging": hanging} {
		conn.SetReadDeadline(time.Now().Add(10 * time.Minute))
		_, err := conn.Read(make([]byte, 1))
		assert.ErrorIs(t, err, syscall.ECONNRESET, name)
	}
	_, err := net.Dial("tcp", p.proxy.Addr().String())
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	assert.Zero(t, p.link.Snapshot().Open)
}

func TestProxyNeedsAnAddress(t *testing.T) {
	_, err := chaos.NewProxy("nowhere:nothing", "127.0.0.1:1", nil)
	assert.Error(t, err)
	p, err := chaos.NewProxy("127.0.0.1:0", "127.0.0.1:1", nil) // no server listens there
	require.NoError(t, err)
	defer p.Close()
	requireReset(t, p.Addr().String())
}
