package restclienttest

import (
	"io"
	"net"
	"sync"
)

// listener hands the far ends of pipes to a server.
type listener struct {
	incoming chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newListener() *listener {
	return &listener{incoming: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.incoming:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return pipeAddr{} }

// link is the client's end of a connection.
type link struct {
	net.Conn
	forget func(*link)

	silent, closed          chan struct{}
	silenceOnce, closedOnce sync.Once
}

func newLink(conn net.Conn, forget func(*link)) *link {
	return &link{Conn: conn, forget: forget, silent: make(chan struct{}), closed: make(chan struct{})}
}

func (l *link) silence() { l.silenceOnce.Do(func() { close(l.silent) }) }

func (l *link) isSilent() bool {
	select {
	case <-l.silent:
		return true
	default:
		return false
	}
}

// Read returns what the server sent; on a silent link it swallows that, and returns when the link is closed.
func (l *link) Read(p []byte) (int, error) {
	if !l.isSilent() {
		n, err := l.Conn.Read(p)
		if !l.isSilent() {
			return n, err
		}
	}
	io.Copy(io.Discard, l.Conn) // so that the server can go on writing
	<-l.closed
	return 0, net.ErrClosed
}

func (l *link) Write(p []byte) (int, error) {
	if l.isSilent() {
		return len(p), nil
	}
	return l.Conn.Write(p)
}

func (l *link) Close() error {
	l.closedOnce.Do(func() {
		close(l.closed)
		l.forget(l)
	})
	return l.Conn.Close()
}
