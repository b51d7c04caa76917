package restclient

import (
	"context"
	"maps"
	"net"
	"slices"
	"sync"
)

// connections are the open connections of a client.
//
// net/http closes only idle connections. An HTTP/2 connection whose last stream was just cancelled
// is not yet idle, and would stay for a minute and a half. So connections and their users are
// counted here, and after close none outlives its last user.
type connections struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu      sync.Mutex // guards the fields below
	open    map[*connection]struct{}
	users   int  // requests and watches in progress
	closing bool // unused connections are closed
}

// connection is a net.Conn that notifies its owner when it is closed.
type connection struct {
	net.Conn
	owner *connections
}

func newConnections(dial func(ctx context.Context, network, addr string) (net.Conn, error)) *connections {
	return &connections{dial: dial, open: map[*connection]struct{}{}}
}

func (c *connections) dialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	raw, err := c.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	conn := &connection{Conn: raw, owner: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing && c.users == 0 { // the request has given up meanwhile; net/http would keep the connection as idle
		raw.Close()
		return nil, net.ErrClosed
	}
	c.open[conn] = struct{}{}
	return conn, nil
}

// Close closes the connection. Further calls do nothing.
func (c *connection) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.open, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// use must be called before connections are used, and release afterwards.
func (c *connections) use() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users++
}

func (c *connections) release() {
	c.mu.Lock()
	c.users--
	c.mu.Unlock()
	c.closeUnused()
}

// close closes every unused connection, now and whenever the last user releases them.
func (c *connections) close() {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.closeUnused()
}

func (c *connections) closeUnused() {
	c.mu.Lock()
	var unused []*connection
	if c.closing && c.users == 0 {
		unused = slices.Collect(maps.Keys(c.open))
	}
	c.mu.Unlock()
	for _, conn := range unused { // Close removes it from c.open
		conn.Close()
	}
}
