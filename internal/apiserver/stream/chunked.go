package stream

import (
	"net/http"
	"time"
)

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

func (s *chunked) Break() { panic(http.ErrAbortHandler) }
