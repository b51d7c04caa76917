package restclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// webSocketDialer opens one watch over a websocket: the same request with the same headers, but the server answers 101
// and then sends each event as one message. It fits into an exchange as the function that sends an attempt.
type webSocketDialer struct {
	client *Client
	stream *webSocketStream // nil before a successful handshake
}

// readBuffer is small: a program may have many watches on which nothing happens.
const readBuffer = 4 << 10

var errNoUpgrade = errors.New("the server (or a proxy on the way) does not switch to the websocket protocol; use the http watch transport")

// dial performs the handshake. An answer other than 101 is handed back like any other, so that refusals and retries are
// no different from plain HTTP.
func (d *webSocketDialer) dial(hr *http.Request) (*http.Response, error) {
	ctx := hr.Context()
	target := *hr.URL
	header := hr.Header.Clone()
	// kube-apiserver serves watches with a websocket library for browsers, which answers 403 without an origin. Any will
	// do; the server's own is true.
	header.Set("Origin", target.Scheme+"://"+target.Host)
	if target.Scheme == "https" {
		target.Scheme = "wss"
	} else {
		target.Scheme = "ws"
	}

	release := func() bool { return false }
	dialer := websocket.Dialer{
		// The connection is closed when the watch's context ends, so that neither the handshake nor a read outlives it.
		NetDialContext: func(_ context.Context, network, addr string) (net.Conn, error) {
			conn, err := d.client.pool.connections.dialContext(ctx, network, addr)
			if err == nil {
				release = context.AfterFunc(ctx, func() { conn.Close() })
			}
			return conn, err
		},
		Proxy:            d.proxy,
		TLSClientConfig:  d.client.pool.tlsConfig("http/1.1"),
		HandshakeTimeout: dialTimeout + tlsHandshakeTimeout,
		ReadBufferSize:   readBuffer,
	}
	// The library would also set the context's deadline on the connection, and the one that fires first would decide
	// what the error looks like.
	conn, answer, err := dialer.DialContext(context.WithoutCancel(ctx), target.String(), header)
	if err == nil {
		// An answer to a ping that cannot be sent any more is no reason to miss what can still be read.
		conn.SetPingHandler(func(data string) error {
			conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
			return nil
		})
		d.stream = &webSocketStream{conn: conn, release: release, pings: d.client.startPings(conn)}
		return answer, nil
	}
	release()
	if !errors.Is(err, websocket.ErrBadHandshake) {
		return nil, err
	}
	return answer, nil
}

// opened returns the stream after an answer that is not a refusal. An answer it is: what does not work is the watch,
// not the connection, and a caller may want to know that.
func (d *webSocketDialer) opened() (*webSocketStream, error) {
	if d.stream == nil {
		return nil, errNoUpgrade
	}
	return d.stream, nil
}

// proxy asks for the proxy of the HTTP request that a handshake is. An https proxy cannot carry it.
func (d *webSocketDialer) proxy(req *http.Request) (*url.URL, error) {
	u, err := d.client.pool.proxy(req)
	if err == nil && u != nil && u.Scheme == "https" {
		err = &markedError{kind: ProxyFailed, err: errors.New("websocket watches cannot go through an https:// proxy; use the http watch transport")}
	}
	return u, err
}

// webSocketStream reads the messages of a websocket as one body, text and binary alike. It knows a clean end, where the
// server said goodbye, from a broken connection.
type webSocketStream struct {
	conn    *websocket.Conn
	release func() bool // stops waiting for the context
	pings   *pings
	message io.Reader // nil between messages
}

func (s *webSocketStream) Read(p []byte) (int, error) {
	for {
		if s.message == nil {
			_, message, err := s.conn.NextReader()
			if err != nil {
				return 0, s.pings.explain(endOfStream(err))
			}
			s.message = message
		}
		n, err := s.message.Read(p)
		if err == io.EOF {
			s.message, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, s.pings.explain(err)
		}
	}
}

// Close closes the connection. The server takes that for a goodbye: the events that it sends need no answer.
func (s *webSocketStream) Close() error {
	s.release()
	s.pings.stop()
	return s.conn.Close()
}

// endOfStream turns what gorilla reports at the end into what a body reports: io.EOF after a close message that
// announces no fault, io.ErrUnexpectedEOF when the connection just vanished.
func endOfStream(err error) error {
	var closed *websocket.CloseError
	if !errors.As(err, &closed) {
		return err
	}
	switch closed.Code {
	case websocket.CloseNormalClosure, websocket.CloseGoingAway, websocket.CloseNoStatusReceived:
		return io.EOF
	case websocket.CloseAbnormalClosure:
		return io.ErrUnexpectedEOF
	}
	return fmt.Errorf("the server closed the websocket with code %d: %s", closed.Code, closed.Text)
}

// errNoPong is what a connection is given up with whose other end does not answer a ping.
var errNoPong = errors.New("a ping was not answered")

// pings ask a websocket on which nothing comes whether its other end is still there, and close it if not. HTTP/2 has the
// same built in. There is no goroutine: a timer looks at the silence of the connection.
type pings struct {
	// Immutable.
	conn     *websocket.Conn
	below    *connection
	interval time.Duration
	timeout  time.Duration

	// Of look.
	asked time.Time // when the ping was sent that is not answered yet; zero: none

	mu      sync.Mutex // guards what follows
	timer   *time.Timer
	stopped bool
	dead    bool // no answer came
}

// startPings looks after a websocket until stop is called.
func (c *Client) startPings(conn *websocket.Conn) *pings {
	p := &pings{conn: conn, below: connectionBelow(conn.NetConn()), interval: c.cfg.PingInterval, timeout: c.cfg.PingTimeout}
	if p.below == nil {
		return p
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(p.interval, p.look)
	return p
}

// look sends a ping after a long silence, and ends the connection when nothing has come since. Whatever comes, a pong or
// an event, is a sign of life. It is never called twice at the same time.
func (p *pings) look() {
	silent := p.below.silence()
	next := p.interval - silent
	switch {
	case next > 0:
		p.asked = time.Time{}
	case !p.asked.IsZero() && silent >= time.Since(p.asked):
		p.giveUp()
		return
	default:
		p.asked, next = time.Now(), p.timeout
		// A ping that cannot even be sent is one that is not answered.
		p.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(p.timeout))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped {
		p.timer.Reset(next)
	}
}

func (p *pings) giveUp() {
	p.mu.Lock()
	p.dead = !p.stopped
	p.mu.Unlock()
	p.below.Close()
}

func (p *pings) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.timer != nil {
		p.timer.Stop()
	}
}

// works reports whether the connection is looked after.
func (p *pings) works() bool { return p.below != nil }

// explain replaces the error of a connection that was given up by the reason.
func (p *pings) explain(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil || !p.dead {
		return err
	}
	return &markedError{kind: ConnectionDead, err: errNoPong}
}
