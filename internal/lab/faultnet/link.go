package faultnet

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Link is a network link with faults: those of all connections that were made through it. The zero value has none. Its
// methods may be called from any goroutine, at any time. It must not be copied after first use.
type Link struct {
	// mu guards all that follows and all connections of the link. It is never held while a connection below is read,
	// written or closed.
	mu     sync.Mutex
	faults faults
	open   map[*conn]struct{}
	dice   *rand.Rand    // of the jitter; always the same, so that a run can be repeated
	moved  chan struct{} // closed when the faults change; nil: nobody waits
	counts counts
}

// faults are those in force.
type faults struct {
	blackHole     [2]bool // by Direction
	stall         bool
	delay, jitter time.Duration
	drip          int
	corrupt       int64
	refuse        bool

	cutting  bool  // CutAfter is on
	cutAfter int64 // and this is what each connection may receive
	cutOrder int   // how often CutAfter was called: each call gives every connection its allowance anew
}

// counts is what has happened.
type counts struct {
	opened, refused, cuts             int
	sent, received, vanished, flipped int64
}

// Conn returns inner with the faults of the link, seen from the side that holds it. It reads ahead from inner, on a
// goroutine that ends when the connection is closed or has come to its end.
func (l *Link) Conn(inner net.Conn) net.Conn { return l.wrap(inner) }

// Listener returns inner; the connections that it accepts have the faults of the link. One that is refused is accepted
// and reset.
func (l *Link) Listener(inner net.Listener) net.Listener { return &listener{inner, l} }

// DialFunc opens a connection, as net.Dialer.DialContext does.
type DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// Dial returns inner; the connections that it opens have the faults of the link. In a black hole it hangs until the
// hole is closed, its context ends, or 30 s have passed: then it fails with ETIMEDOUT.
func (l *Link) Dial(inner DialFunc) DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		return l.dial(ctx, inner, network, addr)
	}
}

// BlackHole makes what is sent vanish and what is awaited never come, without an error, until it is switched off. With
// directions only those are affected.
//
// A connection of which bytes have vanished stays dead in that direction, also when the link is well again: nobody is left
// who could send them once more, and what comes after a gap must not be taken for the whole. That is what remains
// when something on the way has lost its memory of a connection (a NAT, a load balancer, a laptop that slept). A
// connection that lost nothing goes on. Compare Stall.
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

// Stall holds up what is received, until it is switched off. Then all of it arrives: a link that was down for a moment and
// whose TCP connections have survived.
func (l *Link) Stall(on bool) { l.change(func(f *faults) { f.stall = on }) }

// Delay makes what is received come d later, plus a random part of jitter, in the order in which it was sent. Zero
// switches it off; what is under way is not overtaken then.
func (l *Link) Delay(d, jitter time.Duration) {
	l.change(func(f *faults) { f.delay, f.jitter = max(d, 0), max(jitter, 0) })
}

// Drip lets each connection receive only so many bytes in a second. Zero switches it off.
func (l *Link) Drip(bytesPerSecond int) {
	l.change(func(f *faults) { f.drip = max(bytesPerSecond, 0) })
}

// CutAfter breaks each connection, as Cut does, when n more bytes have been received over it. Connections that come later
// have the same allowance. With 0 the first byte breaks them. A negative n switches it off.
func (l *Link) CutAfter(n int64) {
	l.change(func(f *faults) { f.cutting, f.cutAfter, f.cutOrder = n >= 0, n, f.cutOrder+1 })
}

// Corrupt flips one bit in each so many received bytes. Zero switches it off.
func (l *Link) Corrupt(every int64) { l.change(func(f *faults) { f.corrupt = max(every, 0) }) }

// Refuse makes new connections fail, or work again.
func (l *Link) Refuse(on bool) { l.change(func(f *faults) { f.refuse = on }) }

// Heal switches all faults off. What has already been lost or cut stays so.
func (l *Link) Heal() { l.change(func(f *faults) { *f = faults{cutOrder: f.cutOrder} }) }

// Cut breaks all open connections now, by a reset: both ends fail with ECONNRESET. New connections work.
func (l *Link) Cut() {
	for _, c := range l.connections() {
		c.cut()
	}
}

// HalfClose ends the receiving direction of all open connections in good order: reads meet the end, after what had
// arrived, and writes go on.
func (l *Link) HalfClose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		c.halfCloseLocked()
	}
}

// change changes the faults and lets everybody who waits look again.
func (l *Link) change(how func(*faults)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	how(&l.faults)
	for c := range l.open {
		c.faultsChangedLocked()
	}
	if l.moved != nil {
		close(l.moved)
		l.moved = nil
	}
}

// movedLocked is closed when the faults change.
func (l *Link) movedLocked() <-chan struct{} {
	if l.moved == nil {
		l.moved = make(chan struct{})
	}
	return l.moved
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

func (l *Link) wrap(inner net.Conn) *conn {
	c := &conn{inner: inner, link: l}
	c.changed = sync.NewCond(&l.mu)
	l.mu.Lock()
	if l.open == nil {
		l.open = map[*conn]struct{}{}
		l.dice = rand.New(rand.NewPCG(1, 2))
	}
	l.open[c] = struct{}{}
	l.counts.opened++
	l.mu.Unlock()
	go c.readAhead()
	return c
}
