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

// proxied is a proxy in front of a listener.
type proxied struct {
	*chaos.Proxy
	link   chaos.Link
	target net.Listener
}

func newProxied(t *testing.T) *proxied {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	target, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { target.Close() })
	p := &proxied{target: target}
	p.Proxy, err = chaos.NewProxy("127.0.0.1:0", target.Addr().String(), &p.link)
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

func (p *proxied) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func (p *proxied) accept(t *testing.T) net.Conn {
	t.Helper()
	conn, err := p.target.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func (p *proxied) connect(t *testing.T) (client, server net.Conn) {
	t.Helper()
	client = p.dial(t)
	server = p.accept(t)
	send(t, client, "!") // when this has arrived the proxy has both ends
	receives(t, server, "!")
	return client, server
}

func TestProxyPassesOn(t *testing.T) {
	p := newProxied(t)
	client, server := p.connect(t)
	send(t, client, "question")
	receives(t, server, "question")
	require.NoError(t, client.(*net.TCPConn).CloseWrite())
	ends(t, server, io.EOF) // a half-closed connection is half-closed beyond the proxy
	send(t, server, "answer")
	require.NoError(t, server.Close())
	receives(t, client, "answer")
	ends(t, client, io.EOF)
}

func TestACutReachesBothEndsOfAProxy(t *testing.T) {
	p := newProxied(t)
	client, server := p.connect(t)
	p.link.Cut()
	ends(t, client, syscall.ECONNRESET)
	ends(t, server, syscall.ECONNRESET)
	for _, end := range []int{0, 1} { // a reset by one end reaches the other
		client, server := p.connect(t)
		both := []net.Conn{client, server}
		both[end].(*net.TCPConn).SetLinger(0)
		both[end].Close()
		ends(t, both[1-end], syscall.ECONNRESET)
	}
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
	server = p.accept(t)
	receives(t, server, "greeting")
	p.link.HalfClose()
	ends(t, client, io.EOF)
	send(t, client, "more")
	receives(t, server, "more")
}

func TestProxyCloses(t *testing.T) {
	p := newProxied(t)
	client, server := p.connect(t)
	p.link.BlackHole(true)
	hanging := p.dial(t)
	require.NoError(t, p.Close())
	for _, conn := range []net.Conn{client, server, hanging} {
		conn.SetReadDeadline(time.Now().Add(10 * time.Minute))
		ends(t, conn, syscall.ECONNRESET)
	}
	_, err := net.Dial("tcp", p.Addr().String())
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	assert.Zero(t, p.link.Snapshot().Open)
}

// A dial that the link refuses, or that reaches no server, ends in a reset: at once or at the first
// read, since it may precede the return of Dial.
func TestProxyResetsWhatItCannotConnect(t *testing.T) {
	_, err := chaos.NewProxy("nowhere:nothing", "127.0.0.1:1", nil)
	assert.Error(t, err)
	nobody, err := chaos.NewProxy("127.0.0.1:0", "127.0.0.1:1", nil)
	require.NoError(t, err)
	defer nobody.Close()
	refused := newProxied(t)
	refused.link.Refuse(true)
	for _, proxy := range []*chaos.Proxy{nobody, refused.Proxy} {
		conn, err := net.Dial("tcp", proxy.Addr().String())
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
			conn.Close()
		}
		assert.ErrorIs(t, err, syscall.ECONNRESET)
	}
}
