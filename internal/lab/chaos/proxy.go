package chaos

import (
	"context"
	"io"
	"net"
	"sync"
)

// Proxy passes TCP connections on to a real server over a [Link], which receives the server's
// bytes. It resets a connection that the link refuses or cannot make.
type Proxy struct {
	// Immutable.
	listener net.Listener
	target   string
	dial     DialFunc
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu   sync.Mutex // guards open
	open map[net.Conn]struct{}
}

// NewProxy listens on the address listen (such as "127.0.0.1:0") and connects each accepted
// connection to target. link may be shared by proxies; nil is a link without faults.
func NewProxy(listen, target string, link *Link) (*Proxy, error) {
	if link == nil {
		link = &Link{}
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, target: target, dial: link.Dial((&net.Dialer{}).DialContext),
		open: map[net.Conn]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.running.Go(p.accept)
	return p, nil
}

// Addr returns the listening address.
func (p *Proxy) Addr() net.Addr { return p.listener.Addr() }

// Close stops listening, breaks all connections, and waits for the proxy's goroutines.
func (p *Proxy) Close() error {
	p.cancel()
	err := p.listener.Close()
	p.mu.Lock()
	for c := range p.open {
		abort(c)
	}
	p.mu.Unlock()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil && p.ctx.Err() != nil {
			return
		}
		if err == nil {
			p.running.Go(func() { p.serve(client) })
		}
	}
}

// serve joins a client with the server until both directions have ended, or one has failed.
func (p *Proxy) serve(client net.Conn) {
	if !p.keep(client) {
		return
	}
	defer p.drop(client)
	server, err := p.dial(p.ctx, "tcp", p.target)
	if err != nil {
		abort(client)
		return
	}
	if !p.keep(server) {
		return
	}
	defer p.drop(server)

	var up sync.WaitGroup
	up.Go(func() { p.pass(server, client) })
	p.pass(client, server)
	up.Wait()
}

// pass copies one direction. It passes on a clean end as such, and a failure as a failure.
func (p *Proxy) pass(to, from net.Conn) {
	_, err := io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
	if dead, ok := to.(*conn); err == nil && ok && dead.isDead() {
		err = net.ErrClosed // the client is gone and can receive nothing
	}
	if err != nil {
		abort(to)
		abort(from)
		return
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}

// keep registers a connection for Close. It returns false after Close.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		abort(c)
		return false
	}
	p.open[c] = struct{}{}
	return true
}

func (p *Proxy) drop(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}
