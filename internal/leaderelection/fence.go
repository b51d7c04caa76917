package leaderelection

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Fence keeps whatever a leader sends inside its lease. The connections of the client that works pass through [Fence.Dial];
// as long as nobody leads here, or this process leads, they are what they are without it. When the lease is over nothing
// leaves any more: the moment is compared before each write, open connections are broken off, what the kernel has not
// sent of them yet is thrown away, and no new ones are made.
//
// A context alone would not do: a process that was stopped for a minute goes on in the middle of sending a request.
//
// The zero value is ready. It may be used from any goroutine, by one [Elector].
type Fence struct {
	mu     sync.Mutex // guards what follows
	hold   *hold      // nil: nobody leads here
	closed bool
	conns  map[*fencedConn]struct{}
}

// ErrFenced is what writes and dials fail with after the lease was lost.
var ErrFenced = errors.New("this process does not lead any more")

// Dial returns a function that makes connections as dial does, behind the fence.
func (f *Fence) Dial(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if !f.open() {
			return nil, ErrFenced
		}
		inner, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		// Closing means: now. Otherwise the kernel goes on for a quarter of an hour to repeat what a dead link did not
		// take, and delivers it when the link is back and somebody else leads.
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

// open tells whether something may leave now.
func (f *Fence) open() bool {
	f.mu.Lock()
	hold, closed := f.hold, f.closed
	f.mu.Unlock()
	return !closed && (hold == nil || hold.alive())
}

// guard makes the fence ask the hold; nil: nobody.
func (f *Fence) guard(h *hold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hold = h
}

// close breaks everything off, for ever.
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
