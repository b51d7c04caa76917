package leaderelection

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// Fence stops a leader from sending after the end of its lease. The connections of the working
// client pass through [Fence.Dial]. Before and during leadership they behave as without a fence.
// Afterwards nothing leaves: the clock is checked before each write, open connections are reset,
// unsent data in the kernel is discarded, and new connections fail.
//
// A context is not enough: a process that was stopped for a minute may resume in the middle of
// sending a request. A timer ends the context, and its goroutine is one of many that are ready.
//
// The zero value is ready to use. It may be used from any goroutine, by one [Elector].
type Fence struct {
	mu     sync.Mutex // guards the fields below
	term   *term      // nil: this process does not lead
	closed bool
	conns  map[*fencedConn]struct{}
}

// term is a term of leadership. Each renewal moves its deadline.
type term struct {
	ctx      context.Context // of the work
	end      context.CancelCauseFunc
	deadline time.Time
	timer    *time.Timer
	cause    func() error // returns why the deadline was missed
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

// open reports whether data may be sent now. It ends the term at its deadline, by the clock: the
// timer may fire late.
func (f *Fence) open() bool {
	f.mu.Lock()
	closed, late := f.closed, f.term != nil && !time.Now().Before(f.term.deadline)
	f.mu.Unlock()
	if late {
		f.lose(nil)
	}
	return !closed && !late
}

// begin begins a term, and returns the context of its work. The caller must end it with finish.
func (f *Fence) begin(parent context.Context, deadline time.Time, cause func() error) context.Context {
	t := &term{deadline: deadline, cause: cause}
	t.ctx, t.end = context.WithCancelCause(parent)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.term = t
	t.timer = time.AfterFunc(time.Until(deadline), func() { f.open() })
	return t.ctx
}

// extend moves the deadline. It fails if the term has ended: a late renewal does not restore it.
func (f *Fence) extend(deadline time.Time) bool {
	if !f.open() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.term == nil || f.closed {
		return false
	}
	f.term.deadline = deadline
	f.term.timer.Reset(time.Until(deadline))
	return true
}

// lose ends the term and closes the fence for good. A nil reason means a missed deadline. The
// context ends first: work that returns because a request failed has then lost the lease.
func (f *Fence) lose(reason error) {
	f.mu.Lock()
	if f.term != nil {
		f.term.timer.Stop()
		if reason == nil {
			reason = f.term.cause()
		}
		f.term.end(reason)
	}
	conns := f.conns
	f.term, f.conns, f.closed = nil, nil, true
	f.mu.Unlock()
	for conn := range conns {
		conn.Conn.Close()
	}
}

// finish ends a term that was not lost. The fence stays open, for what its work has written.
func (f *Fence) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.term != nil {
		f.term.timer.Stop()
		f.term.end(context.Canceled)
		f.term = nil
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
