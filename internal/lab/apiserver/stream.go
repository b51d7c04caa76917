package apiserver

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// writeTimeout is the time limit of a write. A client that reads nothing for so long is cut.
const writeTimeout = 30 * time.Second

// eventStream is the server's end of a watch: over plain HTTP a chunked body with one JSON document
// per line, over a websocket one text message per event. Frames arrive whole and in order, or the
// connection breaks. Its methods must be called on the goroutine of the request.
//
// A websocket has a reading goroutine, which has ended when End, Abort or Break returns.
type eventStream interface {
	// Send sends frames, each of which ends with a newline. It fails after writeTimeout if the
	// client does not read; nothing is buffered for it.
	Send(frames [][]byte) error
	// Gone returns a channel that is closed when the client is gone.
	Gone() <-chan struct{}
	// End ends the stream gracefully.
	End()
	// Abort ends the stream abruptly. Over HTTP it does not return.
	Abort()
	// Break aborts everything on the same connection, like a network failure.
	Break()
}

// openStream starts a stream. It returns nil if it has refused the request.
func openStream(w http.ResponseWriter, r *http.Request) eventStream {
	if isWebSocket(r) {
		return openWebSocket(w, r)
	}
	return openChunked(w, r)
}

// isWebSocket reports whether the request asks for a websocket.
func isWebSocket(r *http.Request) bool {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return false
	}
	for word := range strings.SplitSeq(r.Header.Get("Connection"), ",") {
		if strings.EqualFold(strings.TrimSpace(word), "upgrade") {
			return true
		}
	}
	return false
}

// chunked is a stream over plain HTTP.
type chunked struct {
	w          http.ResponseWriter
	r          *http.Request
	controller *http.ResponseController
}

func openChunked(w http.ResponseWriter, r *http.Request) eventStream {
	s := &chunked{w: w, r: r, controller: http.NewResponseController(w)}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	s.deadline(writeTimeout)
	s.controller.Flush() // tells the client that the watch has begun
	s.noDeadline()
	return s
}

// deadline bounds the following writes. Writers without deadlines (test recorders) ignore it.
func (s *chunked) deadline(d time.Duration) { s.controller.SetWriteDeadline(time.Now().Add(d)) }

// noDeadline clears the deadline between writes: over HTTP/2 an expired deadline ends the stream
// even if nothing is being written.
func (s *chunked) noDeadline() { s.controller.SetWriteDeadline(time.Time{}) }

func (s *chunked) Send(frames [][]byte) error {
	s.deadline(writeTimeout)
	defer s.noDeadline()
	for _, frame := range frames {
		if _, err := s.w.Write(frame); err != nil {
			return err
		}
	}
	return s.controller.Flush()
}

func (s *chunked) Gone() <-chan struct{} { return s.r.Context().Done() }

// End leaves the last chunk to net/http, which writes it when the handler returns. The deadline is
// for that write only, because the connection may be reused.
func (s *chunked) End() { s.deadline(writeTimeout) }

func (s *chunked) Abort() { panic(http.ErrAbortHandler) }

// Break closes the connection for HTTP/2 too. There, the end of a single stream would look like an
// error from the server, after which client-go lists again instead of resuming.
func (s *chunked) Break() {
	if conn, ok := s.r.Context().Value(connKey{}).(net.Conn); ok {
		conn.Close()
	}
	s.Abort()
}

// connKey is the context key of the connection.
type connKey struct{}

// withConnection stores the connection in the context. It is for [http.Server].
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn() // closing a TLS connection would send a close alert
	}
	return context.WithValue(ctx, connKey{}, conn)
}

// webSocket is a stream over a websocket: one text message per event.
type webSocket struct {
	conn *websocket.Conn
	gone chan struct{} // closed by the reader, which owns it
	done sync.WaitGroup
}

// maxMessage limits messages of the client, which are ignored.
const maxMessage = 4096

// openWebSocket performs the handshake and agrees to the first subprotocol, whatever it is.
func openWebSocket(w http.ResponseWriter, r *http.Request) eventStream {
	header := http.Header{}
	if protocols := websocket.Subprotocols(r); len(protocols) > 0 {
		header.Set("Sec-Websocket-Protocol", protocols[0])
	}
	upgrader := websocket.Upgrader{
		HandshakeTimeout: writeTimeout,
		CheckOrigin:      func(*http.Request) bool { return true },
		WriteBufferPool:  writeBuffers,
	}
	conn, err := upgrader.Upgrade(w, r, header)
	if err != nil {
		return nil
	}
	conn.SetReadLimit(maxMessage)
	s := &webSocket{conn: conn, gone: make(chan struct{})}
	s.done.Go(s.read)
	return s
}

// writeBuffers are shared by all connections, so that idle ones hold none.
var writeBuffers = &sync.Pool{}

// read discards the client's messages. Reading answers pings and notices the end.
func (s *webSocket) read() {
	defer close(s.gone)
	for {
		if _, _, err := s.conn.NextReader(); err != nil {
			return
		}
	}
}

func (s *webSocket) Send(frames [][]byte) error {
	for _, frame := range frames {
		s.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
		if err := s.conn.WriteMessage(websocket.TextMessage, frame); err != nil {
			return err
		}
	}
	return nil
}

func (s *webSocket) Gone() <-chan struct{} { return s.gone }

func (s *webSocket) End() {
	goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	s.conn.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(time.Second))
	s.close()
}

func (s *webSocket) Abort() { s.close() }

func (s *webSocket) Break() { s.close() }

func (s *webSocket) close() {
	s.conn.Close()
	s.done.Wait()
}
