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

// webSocketDialer opens one watch over a websocket: the same request, but the server answers 101
// and then sends each event as one message.
type webSocketDialer struct {
	client *Client
	stream *webSocketStream // nil before a successful handshake
}

// readBuffer is small: a program may have many idle watches.
const readBuffer = 4 << 10

var errNoUpgrade = errors.New("the server (or a proxy on the way) does not switch to the websocket protocol; use " +
	"the http watch transport")

// dial performs the handshake. An answer other than 101 is returned like any other, so that
// refusals and retries are the same as over plain HTTP. But the library keeps only the first 1024
// bytes of its body: a longer Status is not decoded, and the error has its beginning as text.
func (d *webSocketDialer) dial(hr *http.Request) (*http.Response, error) {
	ctx := hr.Context()
	target := *hr.URL
	header := hr.Header.Clone()
	// kube-apiserver's websocket library is made for browsers and answers 403 without an origin.
	// Any origin is accepted; use the server's own.
	header.Set("Origin", target.Scheme+"://"+target.Host)
	if target.Scheme == "https" {
		target.Scheme = "wss"
	} else {
		target.Scheme = "ws"
	}

	release := func() bool { return false }
	dialer := websocket.Dialer{
		// The connection is closed when the watch's context ends, so that neither the handshake nor
		// a read outlives it.
		NetDialContext: func(_ context.Context, network, addr string) (net.Conn, error) {
			conn, err := d.client.pool.connections.dialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			release = context.AfterFunc(ctx, func() { conn.Close() })
			return conn, nil
		},
		Proxy:            d.proxy,
		TLSClientConfig:  d.client.pool.tlsConfig("http/1.1"),
		HandshakeTimeout: dialTimeout + tlsHandshakeTimeout,
		ReadBufferSize:   readBuffer,
	}
	// The library would also set the context's deadline on the connection; whichever fired first
	// would decide the error.
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

// proxy returns the proxy of the handshake's HTTP request. An https proxy is not supported.
func (d *webSocketDialer) proxy(req *http.Request) (*url.URL, error) {
	u, err := d.client.pool.proxy(req)
	if err == nil && u != nil && u.Scheme == "https" {
		err = &markedError{kind: ProxyFailed,
			err: errors.New("websocket watches cannot go through an https:// proxy; use the http watch transport")}
	}
	return u, err
}

// webSocketStream reads the messages of a websocket as one body. It distinguishes a clean end,
// after a close message, from a broken connection and a dead one: after PingInterval of silence it
// sends a ping, and reading fails if nothing arrives within PingTimeout.
type webSocketStream struct {
	// Immutable.
	conn              *websocket.Conn
	release           func() bool // stops watching the context
	interval, timeout time.Duration
	ping              *time.Timer

	message io.Reader // nil between messages; for the reading goroutine only
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
	// Failing to answer a ping must not prevent reading the remaining messages.
	conn.SetPingHandler(func(data string) error {
		s.alive()
		conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
		return nil
	})
	return s
}

// alive restarts the silence timer. It is called before each wait, too: a reader that was busy has
// not listened. After Close the ping does nothing, and none follows it.
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

// Close closes the connection without a close message, which the server accepts.
func (s *webSocketStream) Close() error {
	s.release()
	s.ping.Stop()
	return s.conn.Close()
}

// endOfStream converts gorilla's errors to those of a body: io.EOF after a normal close message,
// io.ErrUnexpectedEOF if the connection broke.
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
