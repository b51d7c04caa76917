package stream

import (
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
