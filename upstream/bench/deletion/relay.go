package deletion

import (
	"net"
	"sync"
	"time"
)

// latency is the relay's delay of each request.
const latency = 5 * time.Millisecond

// relay forwards TCP connections with a delay from client to server, as a network with latency
// would: in order, and with any amount of data in flight. Concurrent requests on one connection
// thus all take longer by the delay. Answers are not delayed. TLS and HTTP pass through.
type relay struct {
	listener net.Listener
	server   string
	delay    time.Duration
	running  sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	open    map[net.Conn]struct{}
	stopped bool
}

// startRelay listens on a free port. stop ends it.
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

// stop closes all connections and waits for the relay's goroutines.
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

// connect forwards one connection until either end closes it.
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

// track registers connections for stop, and returns false after stop.
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

// piece is the data of one read, with the time at which it is due.
type piece struct {
	due  time.Time
	data []byte
}

// mostUnderWay bounds the pieces in flight, of at most 32 KiB each. A faster sender waits.
const mostUnderWay = 1024

// carryLate copies from one connection to the other, each piece delayed, until one of them ends.
func carryLate(to, from net.Conn, delay time.Duration) {
	underWay := make(chan piece, mostUnderWay)
	var writing sync.WaitGroup
	writing.Go(func() {
		for p := range underWay {
			if wait := time.Until(p.due); wait > 0 {
				time.Sleep(wait)
			}
			if _, err := to.Write(p.data); err != nil {
				from.Close() // ends the read below
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
