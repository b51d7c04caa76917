package restclient

import (
	"errors"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

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

// works tells whether the connection is looked after.
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
