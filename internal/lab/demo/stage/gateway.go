package stage

import (
	"io"
	"net/http"
	"strings"
	"sync"
)

// gateway stands between a client and the server. It answers single requests in place of the
// server, and passes on the others. The zero value passes on everything.
type gateway struct {
	mu     sync.Mutex
	answer *gatewayAnswer // guarded by mu; of the next watch
}

// gatewayAnswer is an answer of a gateway.
type gatewayAnswer struct {
	code              int
	contentType, body string
}

// AnswerNextWatch makes a gateway answer the next watch of a client of [Stage.NewClient] in place
// of the server.
func (s *Stage) AnswerNextWatch(code int, contentType, body string) {
	s.bare.gateway.mu.Lock()
	defer s.bare.gateway.mu.Unlock()
	s.bare.gateway.answer = &gatewayAnswer{code, contentType, body}
}

// take returns the answer to a request once, or nil.
func (g *gateway) take(request *http.Request) *gatewayAnswer {
	g.mu.Lock()
	defer g.mu.Unlock()
	answer := g.answer
	if request.URL.Query().Get("watch") == "" {
		return nil
	}
	g.answer = nil
	return answer
}

// between is the WrapTransport of the client.
func (g *gateway) between(server http.RoundTripper) http.RoundTripper {
	return transport(func(request *http.Request) (*http.Response, error) {
		answer := g.take(request)
		if answer == nil {
			return server.RoundTrip(request)
		}
		return &http.Response{
			Status: http.StatusText(answer.code), StatusCode: answer.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Content-Type": {answer.contentType}}, Request: request,
			Body: io.NopCloser(strings.NewReader(answer.body)), ContentLength: int64(len(answer.body)),
		}, nil
	})
}

// transport is an http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }
