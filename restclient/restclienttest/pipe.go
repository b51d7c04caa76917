package restclienttest

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// pipeBuffer is the capacity of one direction. net.Pipe has no buffer, but TLS needs one: at the
// end of a handshake both sides may write before either reads.
const pipeBuffer = 64 << 10

// Pipe returns the two ends of a connection in memory, with a buffer in each direction. Deadlines
// work. Data written before Close can still be read, as with a socket. Both ends also have the
// methods CloseWrite() error and Reset(). A pipe has no goroutine, so a synctest bubble can end
// without closing it.
func Pipe() (near, far net.Conn) { return newPipe() }

// newPipe returns the two ends of a connection in memory. It blocks only on sync.Cond, which is
// durably blocking in a synctest bubble.
func newPipe() (near, far *pipeConn) {
	there, back := newHalf(), newHalf()
	return &pipeConn{in: back, out: there}, &pipeConn{in: there, out: back}
}

// half is one direction of a connection.
type half struct {
	mu           sync.Mutex
	changed      *sync.Cond
	data         []byte
	writerClosed bool
	readerClosed bool
	broken       bool // both sides fail with ECONNRESET
	reading      deadline
	writing      deadline
}

func newHalf() *half {
	h := &half{}
	h.changed = sync.NewCond(&h.mu)
	return h
}

// deadline is the time after which reads or writes fail. The timer only wakes blocked calls.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (h *half) setDeadline(d *deadline, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.at = at
	if !at.IsZero() && time.Until(at) > 0 && !h.readerClosed && !h.writerClosed { // or no call will block
		d.timer = time.AfterFunc(time.Until(at), h.wake)
	}
	h.changed.Broadcast()
}

// wake holds the lock; otherwise a call between its check of the clock and its Wait would miss it.
func (h *half) wake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changed.Broadcast()
}

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.readerClosed:
			return 0, net.ErrClosed
		case h.broken:
			return 0, syscall.ECONNRESET
		case h.reading.passed():
			return 0, os.ErrDeadlineExceeded
		case len(h.data) > 0 || len(p) == 0:
			n := copy(p, h.data)
			h.data = h.data[n:]
			h.changed.Broadcast()
			return n, nil
		case h.writerClosed:
			return 0, io.EOF
		}
		h.changed.Wait()
	}
}

func (h *half) write(p []byte) (n int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.writerClosed:
			return n, net.ErrClosed
		case h.broken:
			return n, syscall.ECONNRESET
		case h.readerClosed:
			return n, io.ErrClosedPipe
		case h.writing.passed():
			return n, os.ErrDeadlineExceeded
		}
		if room := pipeBuffer - len(h.data); room > 0 && len(p) > 0 {
			taken := min(room, len(p))
			h.data = append(h.data, p[:taken]...)
			n, p = n+taken, p[taken:]
			h.changed.Broadcast()
		}
		if len(p) == 0 {
			return n, nil
		}
		h.changed.Wait()
	}
}

// close closes one side of the direction. Data written before the writer closed can still be read.
func (h *half) close(side *bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*side = true
	own := &h.reading
	if side == &h.writerClosed {
		own = &h.writing
	}
	if own.timer != nil {
		own.timer.Stop()
	}
	h.changed.Broadcast()
}

// reset breaks the direction and drops buffered data.
func (h *half) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken, h.data = true, nil
	h.changed.Broadcast()
}

// pipeConn is one end of a connection.
type pipeConn struct{ in, out *half }

func (c *pipeConn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *pipeConn) Write(p []byte) (int, error) { return c.out.write(p) }

func (c *pipeConn) Close() error {
	c.in.close(&c.in.readerClosed)
	c.out.close(&c.out.writerClosed)
	return nil
}

// CloseWrite closes one direction: the other side reads to EOF and can still write.
func (c *pipeConn) CloseWrite() error {
	c.out.close(&c.out.writerClosed)
	return nil
}

// Reset breaks the connection for both sides, as a TCP reset does.
func (c *pipeConn) Reset() {
	c.in.reset()
	c.out.reset()
}

func (c *pipeConn) LocalAddr() net.Addr  { return pipeAddr{} }
func (c *pipeConn) RemoteAddr() net.Addr { return pipeAddr{} }

func (c *pipeConn) SetDeadline(t time.Time) error {
	c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *pipeConn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.reading, t)
	return nil
}

func (c *pipeConn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(&c.out.writing, t)
	return nil
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

// Listener accepts the far ends of pipes. Create it with [NewListener].
type Listener struct {
	incoming chan net.Conn
	closed   chan struct{}
	once     sync.Once

	mu   sync.Mutex // guards open
	open []net.Conn
}

// NewListener returns a listener for a server in memory.
func NewListener() *Listener {
	return &Listener{incoming: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial returns the near end of a connection that Accept takes. After Close it is refused.
func (l *Listener) Dial(ctx context.Context, network string) (net.Conn, error) {
	return l.dial(ctx, network)
}

func (l *Listener) dial(ctx context.Context, network string) (*pipeConn, error) {
	near, far := newPipe()
	l.mu.Lock()
	l.open = append(l.open, far)
	l.mu.Unlock()
	select {
	case l.incoming <- far:
		return near, nil
	case <-l.closed:
		return nil, refused(network)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func refused(network string) error {
	return &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
}

// Accept waits for a connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.incoming:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Kill refuses further connections and breaks all that were made, as the end of a process does.
func (l *Listener) Kill() {
	l.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.open {
		conn.Close()
	}
}

// Addr returns a placeholder, which is never dialed.
func (l *Listener) Addr() net.Addr { return pipeAddr{} }

// link is the client's end of a connection.
type link struct {
	*pipeConn
	forget func(*link)
}

func (l *link) Close() error {
	l.forget(l)
	return l.pipeConn.Close()
}
