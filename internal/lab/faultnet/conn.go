package faultnet

import (
	"net"
	"sync"
	"syscall"
	"time"
)

// readAheadLimit is how much of a connection may be between the link and its reader. More is left to the connection
// below, so that a slow reader slows the sender down.
const readAheadLimit = 256 << 10

// conn is one end of a connection over a link. What comes from the other end is read ahead and queued, so that only the
// queue has to be waited for, and all faults of the receiving direction happen there.
type conn struct {
	inner net.Conn
	link  *Link

	// Guarded by link.mu.

	changed *sync.Cond
	queue   []piece   // received, in order
	size    int       // bytes in it
	end     error     // what inner.Read ended with, after the queue
	closed  bool      // by Close
	wasCut  bool      // reset from outside
	dead    [2]bool   // bytes have vanished: nothing passes in that direction any more
	until   time.Time // deadline of Read
	alarm   *time.Timer

	cutOrder   int   // the order whose allowance this is
	allowance  int64 // what is left of it
	toFlip     int64 // bytes until the next bit is flipped
	dripFrom   time.Time
	lastArrive time.Time
}

// piece is what one read has brought.
type piece struct {
	data []byte
	due  time.Time // it arrives
}

// Write passes p on, or loses it.
func (c *conn) Write(p []byte) (int, error) {
	c.link.mu.Lock()
	if err := c.failedLocked("write"); err != nil {
		c.link.mu.Unlock()
		return 0, err
	}
	if c.dead[Sent] || c.link.faults.blackHole[Sent] {
		c.dead[Sent] = c.dead[Sent] || len(p) > 0
		c.link.counts.vanished += int64(len(p))
		c.link.mu.Unlock()
		return len(p), nil
	}
	c.link.mu.Unlock()

	n, err := c.inner.Write(p)

	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.link.counts.sent += int64(n)
	if failed := c.failedLocked("write"); err != nil && failed != nil {
		err = failed
	}
	return n, err
}

// failedLocked is the error of a connection that was closed or cut.
func (c *conn) failedLocked(op string) error {
	switch {
	case c.closed:
		return net.ErrClosed
	case c.wasCut:
		return c.resetError(op)
	}
	return nil
}

func (c *conn) resetError(op string) error {
	return &net.OpError{Op: op, Net: c.inner.RemoteAddr().Network(), Source: c.inner.LocalAddr(), Addr: c.inner.RemoteAddr(), Err: syscall.ECONNRESET}
}

// Close closes the connection. Over a black hole, too, the other end learns of it, so that nothing is left there.
func (c *conn) Close() error {
	if !c.finish(false) {
		return nil
	}
	return c.inner.Close()
}

// Reset closes the connection in a way that the other end takes for a failure.
func (c *conn) Reset() {
	if c.finish(false) {
		abort(c.inner)
	}
}

// cut breaks the connection for both ends.
func (c *conn) cut() {
	if c.finish(true) {
		abort(c.inner)
	}
}

// finish takes the connection out of the link, because it was cut or closed by its owner. It tells whether the connection
// below is still to be closed.
func (c *conn) finish(cut bool) (first bool) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	first = !c.closed && !c.wasCut
	switch {
	case !cut:
		c.closed = true
	case first:
		c.wasCut = true
		c.link.counts.cuts++
	}
	delete(c.link.open, c)
	c.queue, c.size = nil, 0
	if c.end == nil {
		c.end = net.ErrClosed
	}
	if c.alarm != nil {
		c.alarm.Stop()
	}
	c.changed.Broadcast()
	return first
}

// CloseWrite tells the other end that nothing more is going to be sent, if the connection below can say so.
func (c *conn) CloseWrite() error {
	c.link.mu.Lock()
	lost := c.dead[Sent] || c.link.faults.blackHole[Sent]
	c.link.mu.Unlock()
	inner, ok := c.inner.(interface{ CloseWrite() error })
	if lost || !ok {
		return nil
	}
	return inner.CloseWrite()
}

func (c *conn) LocalAddr() net.Addr  { return c.inner.LocalAddr() }
func (c *conn) RemoteAddr() net.Addr { return c.inner.RemoteAddr() }

func (c *conn) SetDeadline(t time.Time) error {
	c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.until = t
	c.changed.Broadcast()
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error { return c.inner.SetWriteDeadline(t) }
