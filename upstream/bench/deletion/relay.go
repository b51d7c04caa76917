package deletion

import (
	"net"
	"sync"
	"time"
)

// latency is what the relay adds to each request.
const latency = 5 * time.Millisecond

// relay passes TCP connections on to a server, as a network with a latency would: what a client sends arrives later by
// that time, in the same order, and as much of it may be under way as the client likes to send. So each request takes
// longer by the latency, however many there are side by side on one connection. Answers are not delayed. It knows
// nothing of TLS or HTTP, which both pass through it from end to end.
type relay struct {
	listener net.Listener
	server   string
	delay    time.Duration
	running  sync.WaitGroup

	mu      sync.Mutex // guards what follows
	open    map[net.Conn]struct{}
	stopped bool
}

// startRelay starts to listen on a port of its own. stop ends it.
func startRelay(server string, delay time.Duration) (*relay, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{listener: listener, server: server, delay: delay, open: map[net.Conn]struct{}{}}
	r.running.Go(r.accept)
	return r, nil
}

func (r *relay) address() string { return r.listener.Addr().String() }

// stop closes all connections and returns when nothing of the relay runs any more.
func (r *relay) stop() {
	r.listener.Close()
	r.mu.Lock()
	r.stopped = true
	for conn := range r.open {
		conn.Close()
	}
	r.mu.Unlock()
	r.running.Wait()
}

func (r *relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return // stopped
		}
		r.running.Go(func() { r.connect(client) })
	}
}

// connect passes one connection on, until either end closes it.
func (r *relay) connect(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", r.server)
	if err != nil {
		return
	}
	defer server.Close()
	if !r.track(client, server) {
		return
	}
	defer r.untrack(client, server)

	var directions sync.WaitGroup
	directions.Go(func() {
		defer server.Close()
		carryLate(server, client, r.delay)
	})
	directions.Go(func() {
		defer client.Close()
		carryLate(client, server, 0)
	})
	directions.Wait()
}

// track tells stop about connections; false: it has been called.
func (r *relay) track(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range conns {
		r.open[conn] = struct{}{}
	}
	return !r.stopped
}

func (r *relay) untrack(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range conns {
		delete(r.open, conn)
	}
}

// piece is what was read at one time, and when it is due at the other end.
type piece struct {
	due  time.Time
	data []byte
}

// mostUnderWay bounds the pieces between reading and writing: 32 KiB each at most. A sender that is faster waits.
const mostUnderWay = 1024

// carryLate copies from one connection to the other, each piece later by delay, until one of them ends.
func carryLate(to, from net.Conn, delay time.Duration) {
	underWay := make(chan piece, mostUnderWay)
	var writing sync.WaitGroup
	writing.Go(func() {
		for p := range underWay {
			if wait := time.Until(p.due); wait > 0 {
				time.Sleep(wait)
			}
			if _, err := to.Write(p.data); err != nil {
				from.Close() // which ends the reading below
			}
		}
	})
	for {
		buffer := make([]byte, 32<<10)
		n, err := from.Read(buffer)
		if n > 0 {
			underWay <- piece{time.Now().Add(delay), buffer[:n]}
		}
		if err != nil {
			break
		}
	}
	close(underWay)
	writing.Wait()
}
