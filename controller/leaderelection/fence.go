package leaderelection

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Fence stops a leader from sending after the end of its lease. The connections of the working
// client pass through [Fence.Dial]. Before and during leadership they behave as without a fence.
// Afterwards nothing leaves: the clock is checked before each write, open connections are reset,
// unsent data in the kernel is discarded, and new connections fail.
//
// A context is not enough: a process that was stopped for a minute may resume in the middle of
// sending a request.
//
// The zero value is ready to use. It may be used from any goroutine, by one [Elector].
type Fence struct {
	mu     sync.Mutex // guards the fields below
	hold   *hold      // nil: this process does not lead
	closed bool
	conns  map[*fencedConn]struct{}
}

// ErrFenced is the error of writes and dials after the lease was lost.
var ErrFenced = errors.New("this process does not lead any more")

// Dial returns a function that dials as dial does, behind the fence.
func (f *Fence) Dial(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(context.Context,
	string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if !f.open() {
			return nil, ErrFenced
		}
		inner, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		// Close at once. Otherwise the kernel retransmits unacknowledged data for a quarter of an
		// hour, and delivers it when the link is back and another replica leads.
		if tcp, ok := inner.(interface{ SetLinger(seconds int) error }); ok {
			if err := tcp.SetLinger(0); err != nil {
				inner.Close()
				return nil, err
			}
		}
		return f.add(inner)
	}
}

func (f *Fence) add(inner net.Conn) (net.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		inner.Close()
		return nil, ErrFenced
	}
	if f.conns == nil {
		f.conns = map[*fencedConn]struct{}{}
	}
	conn := &fencedConn{Conn: inner, fence: f}
	f.conns[conn] = struct{}{}
	return conn, nil
}

// open reports whether data may be sent now.
func (f *Fence) open() bool {
	f.mu.Lock()
	hold, closed := f.hold, f.closed
	f.mu.Unlock()
	return !closed && (hold == nil || hold.alive())
}

// guard makes the fence follow the hold; nil means none.
func (f *Fence) guard(h *hold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hold = h
}

// close closes the fence for good.
func (f *Fence) close() {
	f.mu.Lock()
	f.closed = true
	conns := f.conns
	f.conns = nil
	f.mu.Unlock()
	for conn := range conns {
		conn.Conn.Close()
	}
}

// fencedConn is a connection behind a fence.
type fencedConn struct {
	net.Conn
	fence *Fence
}

func (c *fencedConn) Write(p []byte) (int, error) {
	if !c.fence.open() {
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: ErrFenced}
	}
	return c.Conn.Write(p)
}

func (c *fencedConn) Close() error {
	c.fence.mu.Lock()
	delete(c.fence.conns, c)
	c.fence.mu.Unlock()
	return c.Conn.Close()
}
