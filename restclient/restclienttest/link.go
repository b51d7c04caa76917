package restclienttest

import (
	"net"
	"sync"
	"sync/atomic"
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
	*pipeConn
	forget func(*link)

	silent atomic.Bool
	closed sync.Once
}

func newLink(conn *pipeConn, forget func(*link)) *link {
	return &link{pipeConn: conn, forget: forget}
}

// silence makes the link go dead for the client. The server learns of its end when the client closes it, so that no
// handler is left.
func (l *link) silence() {
	l.silent.Store(true)
	l.in.silence()
}

func (l *link) Write(p []byte) (int, error) {
	if l.silent.Load() {
		return len(p), nil
	}
	return l.pipeConn.Write(p)
}

func (l *link) Close() error {
	l.closed.Do(func() { l.forget(l) })
	return l.pipeConn.Close()
}
