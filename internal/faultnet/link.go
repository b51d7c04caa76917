package faultnet

import (
	"context"
	"net"
	"time"
)

// Link is a network link with faults: those of all connections that were made through it. The zero value has none. Its
// methods may be called from any goroutine, at any time. It must not be copied.
type Link struct{}

// Conn returns inner with the faults of the link, seen from the side that holds it.
func (l *Link) Conn(inner net.Conn) net.Conn { return inner }

// Listener returns inner; the connections that it accepts have the faults of the link.
func (l *Link) Listener(inner net.Listener) net.Listener { return inner }

// DialFunc opens a connection, as net.Dialer.DialContext does.
type DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// Dial returns inner; the connections that it opens have the faults of the link.
func (l *Link) Dial(inner DialFunc) DialFunc { return inner }

// BlackHole makes what is sent vanish and what is awaited never come, without an error, until it is switched off. What
// vanished does not come back: a connection that lost bytes that way is useless afterwards, and hangs up to its
// deadlines or the patience of its user. With directions only those are affected.
func (l *Link) BlackHole(on bool, directions ...Direction) {}

// Delay makes bytes arrive d later, plus a random part of jitter, in the order in which they were sent. Zero switches it
// off.
func (l *Link) Delay(d, jitter time.Duration) {}

// Drip lets each connection receive only so many bytes in a second. Zero switches it off.
func (l *Link) Drip(bytesPerSecond int) {}

// CutAfter breaks each connection when n more bytes have been received over it. Connections that come later have the same
// allowance. A negative n switches it off.
func (l *Link) CutAfter(n int64) {}

// Cut breaks all open connections now, by a reset. New ones work.
func (l *Link) Cut() {}

// HalfClose ends the receiving direction of all open connections in good order: reads meet the end, writes go on.
func (l *Link) HalfClose() {}

// Corrupt flips one bit in each so many received bytes. Zero switches it off.
func (l *Link) Corrupt(every int64) {}

// Refuse makes new connections fail, or work again.
func (l *Link) Refuse(on bool) {}

// Heal switches all faults off. What has already been lost or cut stays so.
func (l *Link) Heal() {}

// Snapshot shows the faults that are in force and what they have done.
func (l *Link) Snapshot() Snapshot { return Snapshot{} }
