package chaos

import (
	"net"
	"sync"
	"syscall"
	"time"
)

// readAheadLimit bounds the bytes queued between the link and its reader. Beyond it the link stops
// reading, so that a slow reader slows the sender down.
const readAheadLimit = 256 << 10

// conn is one end of a connection over a link. A goroutine reads ahead into a queue, so that
// readers wait only for the queue; all faults of the receiving direction apply there.
type conn struct {
	inner net.Conn
	link  *Link

	// Guarded by link.mu.

	changed *sync.Cond
	queue   []piece   // received, in order
	size    int       // bytes in queue
	end     error     // the error of inner.Read, returned after the queue
	closed  bool      // by Close
	wasCut  bool      // by Cut
	dead    [2]bool   // bytes have vanished: nothing passes in that direction
	until   time.Time // read deadline
	alarm   *time.Timer

	cutOrder   int   // the call of CutAfter that set allowance
	allowance  int64 // bytes that may still be received
	lastArrive time.Time
}

// piece is the result of one read.
type piece struct {
	data []byte
	due  time.Time // when it arrives
}

// Write passes p on, or loses it in a black hole.
func (c *conn) Write(p []byte) (int, error) {
	c.link.mu.Lock()
	if err := c.failedLocked("write"); err != nil {
		c.link.mu.Unlock()
		return 0, err
	}
	if c.dead[Sent] || c.link.faults.blackHole[Sent] {
		c.dead[Sent] = c.dead[Sent] || len(p) > 0
		c.link.mu.Unlock()
		return len(p), nil
	}
	c.link.mu.Unlock()

	n, err := c.inner.Write(p)

	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if failed := c.failedLocked("write"); err != nil && failed != nil {
		err = failed
	}
	return n, err
}

// failedLocked returns the error of a closed or cut connection.
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
	return &net.OpError{Op: op, Net: c.inner.RemoteAddr().Network(), Source: c.inner.LocalAddr(),
		Addr: c.inner.RemoteAddr(), Err: syscall.ECONNRESET}
}

// Close closes the connection. The other end notices even over a black hole, so that nothing is
// leaked.
func (c *conn) Close() error {
	if !c.finish(false) {
		return nil
	}
	return c.inner.Close()
}

// Reset closes the connection so that the other end sees a failure.
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

// finish removes the connection from the link after a cut or Close. It reports whether the caller
// must close the underlying connection.
func (c *conn) finish(cut bool) (first bool) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	first = !c.closed && !c.wasCut
	switch {
	case !cut:
		c.closed = true
	case first:
		c.wasCut = true
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

// CloseWrite signals the end of the written data, if the underlying connection can.
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

// abort closes a connection so that the other end sees a failure.
func abort(raw net.Conn) {
	switch c := raw.(type) {
	case interface{ Reset() }: // a Pipe
		c.Reset()
	case interface{ SetLinger(int) error }: // TCP
		c.SetLinger(0)
	}
	raw.Close()
}
