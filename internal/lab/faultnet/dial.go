package faultnet

import (
	"context"
	"net"
	"syscall"
	"time"
)

// dialPatience is how long an attempt to connect goes on without an answer.
const dialPatience = 30 * time.Second

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

// passable waits until a connection can be opened, or says why it cannot.
func (l *Link) passable(ctx context.Context) error {
	patience := time.NewTimer(dialPatience)
	defer patience.Stop()
	for {
		l.mu.Lock()
		refuse, lost := l.faults.refuse, l.faults.blackHole[Sent] || l.faults.blackHole[Received]
		if refuse && !lost {
			l.counts.refused++
		}
		moved := l.movedLocked()
		l.mu.Unlock()
		switch {
		case lost:
		case refuse:
			return syscall.ECONNREFUSED
		default:
			return nil
		}
		select {
		case <-moved:
		case <-patience.C:
			return syscall.ETIMEDOUT
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// address is what somebody wanted to connect with.
type address struct{ network, addr string }

func (a address) Network() string { return a.network }
func (a address) String() string  { return a.addr }
