package chaos

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"

	"orrery/restclient/restclienttest"
)

// Link is a network link with faults, which all its connections share. The zero value has none. Its
// methods may be called from any goroutine, at any time. A Link must not be copied after first use.
type Link struct {
	// mu guards the fields below and all connections of the link. It is never held while an
	// underlying connection is read, written or closed.
	mu      sync.Mutex
	faults  faults
	open    map[*conn]struct{}
	updated chan struct{} // closed when the faults change; nil if nothing waits
}

// faults are the active faults.
type faults struct {
	blackHole [2]bool // by Direction
	stall     bool
	delay     time.Duration
	refuse    bool

	cutting  bool  // CutAfter is on
	cutAfter int64 // its limit for each connection
	cutOrder int   // the number of calls of CutAfter; each renews all allowances
}

// DialFunc opens a connection, as net.Dialer.DialContext does.
type DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// Dial returns inner; the connections that it opens have the faults of the link. In a black hole it
// blocks until the hole is closed, its context ends, or 30 s have passed: then it fails with
// ETIMEDOUT.
func (l *Link) Dial(inner DialFunc) DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		return l.dial(ctx, inner, network, addr)
	}
}

// dialTimeout is how long an attempt to connect waits without an answer.
const dialTimeout = 30 * time.Second

func (l *Link) dial(ctx context.Context, inner DialFunc, network, addr string) (net.Conn, error) {
	if err := l.passable(ctx); err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: address{network, addr}, Err: err}
	}
	raw, err := inner(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return l.wrap(raw), nil
}

// passable waits until a connection can be opened, or returns why it cannot.
func (l *Link) passable(ctx context.Context) error {
	timeout := time.NewTimer(dialTimeout)
	defer timeout.Stop()
	for {
		l.mu.Lock()
		refuse, lost := l.faults.refuse, l.faults.blackHole[Sent] || l.faults.blackHole[Received]
		updated := l.updatedLocked()
		l.mu.Unlock()
		switch {
		case lost:
		case refuse:
			return syscall.ECONNREFUSED
		default:
			return nil
		}
		select {
		case <-updated:
		case <-timeout.C:
			return syscall.ETIMEDOUT
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// address is the address of a dial.
type address struct{ network, addr string }

func (a address) Network() string { return a.network }
func (a address) String() string  { return a.addr }

// BlackHole loses bytes in the given directions, or in both, without an error, until it is switched
// off.
//
// A connection that has lost bytes stays dead in that direction after healing, because the bytes
// are never sent again and bytes after a gap must not be delivered. This is a NAT, a load balancer
// or a laptop that forgot a connection. A connection that lost nothing continues. Compare Stall.
func (l *Link) BlackHole(on bool, directions ...Direction) {
	if len(directions) == 0 {
		directions = []Direction{Sent, Received}
	}
	l.change(func(f *faults) {
		for _, d := range directions {
			f.blackHole[d] = on
		}
	})
}

// Stall holds up received bytes until it is switched off. Then all of them arrive, as after a short
// outage that TCP survives.
func (l *Link) Stall(on bool) { l.change(func(f *faults) { f.stall = on }) }

// Delay delays received bytes. Zero switches it off; delayed bytes are not overtaken.
func (l *Link) Delay(d time.Duration) { l.change(func(f *faults) { f.delay = d }) }

// CutAfter breaks each connection, as Cut does, after n more received bytes. Later connections have
// the same allowance. With 0 the first byte breaks them. A negative n switches it off.
func (l *Link) CutAfter(n int64) {
	l.change(func(f *faults) { f.cutting, f.cutAfter, f.cutOrder = n >= 0, n, f.cutOrder+1 })
}

// Refuse makes new connections fail, or work again.
func (l *Link) Refuse(on bool) { l.change(func(f *faults) { f.refuse = on }) }

// Heal switches all faults off. Lost bytes and cut connections stay so.
func (l *Link) Heal() { l.change(func(f *faults) { *f = faults{cutOrder: f.cutOrder} }) }

// Cut resets all open connections: both ends fail with ECONNRESET. New connections work.
func (l *Link) Cut() {
	for _, c := range l.connections() {
		c.cut()
	}
}

// HalfClose ends the receiving direction of all open connections cleanly: reads return io.EOF after
// the bytes that had arrived, and writes continue.
func (l *Link) HalfClose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		c.halfCloseLocked()
	}
}

// change changes the faults and wakes waiting readers and dials.
func (l *Link) change(how func(*faults)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	how(&l.faults)
	for c := range l.open {
		c.faultsChangedLocked()
	}
	if l.updated != nil {
		close(l.updated)
		l.updated = nil
	}
}

// updatedLocked returns a channel that is closed when the faults change.
func (l *Link) updatedLocked() <-chan struct{} {
	if l.updated == nil {
		l.updated = make(chan struct{})
	}
	return l.updated
}

// Snapshot is the state of a [Link] at one time.
type Snapshot struct {
	Open int // connections open now
	Dead int // open connections that have lost bytes
}

// Snapshot returns the state of the link.
func (l *Link) Snapshot() Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Snapshot{Open: len(l.open)}
	for c := range l.open {
		if c.dead[Sent] || c.dead[Received] {
			s.Dead++
		}
	}
	return s
}

func (l *Link) connections() []*conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]*conn, 0, len(l.open))
	for c := range l.open {
		all = append(all, c)
	}
	return all
}

// wrap returns inner with the faults of the link, seen from this end. It reads ahead in a goroutine
// that ends with the connection.
func (l *Link) wrap(inner net.Conn) *conn {
	c := &conn{inner: inner, link: l}
	c.changed = sync.NewCond(&l.mu)
	l.mu.Lock()
	if l.open == nil {
		l.open = map[*conn]struct{}{}
	}
	l.open[c] = struct{}{}
	l.mu.Unlock()
	go c.readAhead()
	return c
}

// Direction is a direction of a connection, seen from the wrapped end.
type Direction int

const (
	Sent     Direction = iota // written bytes
	Received                  // read bytes
)

// Pipe returns the two ends of a connection in memory, with a buffer, deadlines and the closing
// rules of TCP. It works in a testing/synctest bubble.
func Pipe() (client, server net.Conn) { return restclienttest.Pipe() }
