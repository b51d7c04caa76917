package chaos

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// network connects the links with the server: dialing reaches the current listener.
type network struct {
	mu       sync.Mutex // guards listener
	listener *listener  // nil if the server is down
}

// dial connects to the server and ignores the address.
func (n *network) dial(ctx context.Context, kind, _ string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listener
	n.mu.Unlock()
	refused := &net.OpError{Op: "dial", Net: kind, Err: syscall.ECONNREFUSED}
	if l == nil {
		return nil, refused
	}
	near, far := Pipe()
	select {
	case l.incoming <- l.keep(far):
		return near, nil
	case <-l.closed:
		return nil, refused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// listen returns a new listener, to which later calls of dial connect.
func (n *network) listen() *listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listener = &listener{incoming: make(chan net.Conn), closed: make(chan struct{}), open: map[*accepted]bool{}}
	return n.listener
}

// listener hands the far ends of pipes to a server, and records which are open.
type listener struct {
	incoming chan net.Conn
	closed   chan struct{}
	once     sync.Once

	mu   sync.Mutex // guards open
	open map[*accepted]bool
}

// Accept waits for a connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.incoming:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns a placeholder, which is never dialed.
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "chaos", Net: "pipe"} }

func (l *listener) keep(conn net.Conn) net.Conn {
	a := &accepted{Conn: conn, listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[a] = true
	return a
}

// kill breaks all connections, as a killed process does.
func (l *listener) kill() {
	l.Close()
	for _, conn := range l.connections() {
		conn.Close()
	}
}

func (l *listener) connections() []*accepted {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]*accepted, 0, len(l.open))
	for conn := range l.open {
		all = append(all, conn)
	}
	return all
}

// accepted is the server's end of a connection.
type accepted struct {
	net.Conn
	listener *listener
}

// Close closes the connection and removes it from the open ones.
func (a *accepted) Close() error {
	a.listener.mu.Lock()
	delete(a.listener.open, a)
	a.listener.mu.Unlock()
	return a.Conn.Close()
}
