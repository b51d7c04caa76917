package restclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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
		d.stream = newWebSocketStream(conn, release, &d.client.cfg)
		return answer, nil
	}
	release()
	if !errors.Is(err, websocket.ErrBadHandshake) {
		return nil, err
	}
	return answer, nil
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
// server said goodbye, from a broken connection, and from a dead one: after PingInterval of silence it sends a ping, and
// reading fails if nothing has come PingTimeout later. HTTP/2 has the same built in.
type webSocketStream struct {
	// Immutable.
	conn              *websocket.Conn
	release           func() bool // stops waiting for the context
	interval, timeout time.Duration
	ping              *time.Timer

	message io.Reader // nil between messages; of the goroutine that reads
}

func newWebSocketStream(conn *websocket.Conn, release func() bool, cfg *Config) *webSocketStream {
	s := &webSocketStream{conn: conn, release: release, interval: cfg.PingInterval, timeout: cfg.PingTimeout}
	s.ping = time.AfterFunc(s.interval, func() {
		conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(s.timeout))
	})
	conn.SetPongHandler(func(string) error {
		s.alive()
		return nil
	})
	// An answer to a ping that cannot be sent any more is no reason to miss what can still be read.
	conn.SetPingHandler(func(data string) error {
		s.alive()
		conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
		return nil
	})
	return s
}

// alive starts the silence anew. It is called before each wait, too: a reader that was away has heard nothing.
func (s *webSocketStream) alive() {
	s.ping.Reset(s.interval)
	s.conn.SetReadDeadline(time.Now().Add(s.interval + s.timeout))
}

// errNoPong is the cause of ConnectionDead over a websocket.
var errNoPong = errors.New("a ping was not answered")

func (s *webSocketStream) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		s.alive()
		if s.message == nil {
			if _, s.message, err = s.conn.NextReader(); err != nil {
				break
			}
		}
		if n, err = s.message.Read(p); err == io.EOF {
			s.message, err = nil, nil
		}
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		err = &markedError{kind: ConnectionDead, err: errNoPong}
	}
	return n, endOfStream(err)
}

// Close closes the connection. The server takes that for a goodbye: the events that it sends need no answer.
func (s *webSocketStream) Close() error {
	s.release()
	s.ping.Stop()
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
