package restclient

import (
	"context"
	"maps"
	"net"
	"slices"
	"sync"
)

// connections are those that a client has opened and that are not closed yet.
//
// net/http closes an idle connection when it is told to, but an HTTP/2 connection whose last stream has just been
// cancelled is not idle to it for another moment, and stays for a minute and a half then. So connections are counted
// here, with those who use them, and after close none outlives its last user.
type connections struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu      sync.Mutex // guards what follows
	open    map[*connection]struct{}
	users   int  // requests and watches under way
	closing bool // nothing is kept for later any more
}

// connection is a net.Conn that tells its owner when it is closed.
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
	c.open[conn] = struct{}{}
	return conn, nil
}

// Close closes the connection. More than once is harmless.
func (c *connection) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.open, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// use and release enclose the use of connections.
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

// close closes every unused connection, now and whenever the last user leaves.
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
	for _, conn := range unused { // each takes itself out of c.open
		conn.Close()
	}
}
