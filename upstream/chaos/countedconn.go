package chaos

import (
	"net"
	"sync/atomic"
)

// countedConn is a connection that is counted for as long as it is open.
type countedConn struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *countedConn) Close() error {
	if !c.closed.Swap(true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}
