package faultnet

import "net"

// listener wraps the connections accepted by another one.
type listener struct {
	net.Listener
	link *Link
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		l.link.mu.Lock()
		refuse := l.link.faults.refuse
		if refuse {
			l.link.counts.refused++
		}
		l.link.mu.Unlock()
		if !refuse {
			return l.link.wrap(raw), nil
		}
		abort(raw)
	}
}

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
