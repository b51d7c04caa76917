package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"
)

// WriteTimeout is how long one write may take. Whoever reads nothing for so long is cut.
const WriteTimeout = 30 * time.Second

// Stream is the server's end of a watch. Its methods are for the goroutine of the request.
type Stream interface {
	// Send sends frames, of which each ends with a line break.
	Send(frames [][]byte) error
	// Gone is closed when the client has gone away.
	Gone() <-chan struct{}
	// End says goodbye.
	End()
	// Abort ends the stream in the middle, without a goodbye. Over HTTP it does not return.
	Abort()
	// Break is Abort with everything else that shares the connection, as if somebody had pulled out the cable.
	Break()
}

// Open agrees to a watch. When it returns nil it has refused.
func Open(w http.ResponseWriter, r *http.Request) Stream {
	if IsWebSocket(r) {
		return openWebSocket(w, r)
	}
	return openChunked(w, r)
}

// IsTimeout tells whether a Send has failed because the client did not read.
func IsTimeout(err error) bool {
	failed, ok := errors.AsType[net.Error](err)
	return ok && failed.Timeout()
}

// IsWebSocket tells whether the request asks for a websocket.
func IsWebSocket(r *http.Request) bool {
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

func openChunked(w http.ResponseWriter, r *http.Request) Stream {
	s := &chunked{w: w, r: r, controller: http.NewResponseController(w)}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	s.deadline(WriteTimeout)
	s.controller.Flush() // the client learns that the watch has begun
	s.noDeadline()
	return s
}

// deadline bounds the writes that follow. Writers that know no deadlines (recorders of tests) go without.
func (s *chunked) deadline(d time.Duration) { s.controller.SetWriteDeadline(time.Now().Add(d)) }

// noDeadline is for the time between writes, when nothing is due: over HTTP/2 a deadline ends the stream when it passes, whether
// somebody writes or not.
func (s *chunked) noDeadline() { s.controller.SetWriteDeadline(time.Time{}) }

func (s *chunked) Send(frames [][]byte) error {
	s.deadline(WriteTimeout)
	defer s.noDeadline()
	for _, frame := range frames {
		if _, err := s.w.Write(frame); err != nil {
			return err
		}
	}
	return s.controller.Flush()
}

func (s *chunked) Gone() <-chan struct{} { return s.r.Context().Done() }

// End leaves the last chunk to net/http, which writes it when the handler returns. A connection that is used again must not
// inherit the deadline, so it is set for the goodbye alone.
func (s *chunked) End() { s.deadline(WriteTimeout) }

func (s *chunked) Abort() { panic(http.ErrAbortHandler) }

// Break closes the connection under HTTP/2 as well, where the end of a stream alone would look like an error that the server reports
// of this stream: client-go begins anew after such a one, while it resumes after a lost connection.
func (s *chunked) Break() {
	if conn, ok := s.r.Context().Value(connKey{}).(net.Conn); ok {
		conn.Close()
	}
	s.Abort()
}

// connKey is where ConnContext puts the connection.
type connKey struct{}

// ConnContext lets streams find the connection that they are on. It is for [http.Server].
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn() // a TLS connection would take leave
	}
	return context.WithValue(ctx, connKey{}, conn)
}
