package chaos

import (
	"context"
	"net"
	"syscall"
	"time"
)

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
