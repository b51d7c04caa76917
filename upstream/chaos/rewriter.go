package chaos

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// rewriter forwards HTTP requests to the API server as a user, with faults.
type rewriter struct {
	faults    *httpFaults
	guard     *guard  // checks each finalization; may be nil
	shifts    *shifts // checks each write; nil for doors of informers
	user      string
	proxy     *httputil.ReverseProxy
	transport *http.Transport
}

// errLost is the error of a lost answer.
var errLost = errors.New("the answer was lost")

func newRewriter(user string, server *url.URL, identity *tls.Config, faults *httpFaults, guard *guard, shifts *shifts) *rewriter {
	r := &rewriter{faults: faults, guard: guard, shifts: shifts, user: user}
	r.transport = &http.Transport{TLSClientConfig: identity, ForceAttemptHTTP2: true, DisableCompression: true}
	r.proxy = &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(server)
			p.Out.Host = server.Host
		},
		Transport:      r.transport,
		FlushInterval:  -1, // forwards each event at once
		ModifyResponse: r.modify,
		// If the server is away the connection breaks, as it would without the door.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(io.Discard, "", 0),
	}
	return r
}

func (r *rewriter) close() { r.transport.CloseIdleConnections() }

func (r *rewriter) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if r.shifts != nil {
		r.shifts.wrote(r.user, request)
	}
	if delay := r.faults.delay(); delay > 0 {
		r.faults.hit()
		select {
		case <-time.After(delay):
		case <-request.Context().Done():
			return
		}
	}
	if refused, yes := r.faults.refusal(); yes {
		refuse(w, refused)
		return
	}
	if request.URL.Query().Get("continue") != "" && r.faults.expires() {
		refuse(w, refusal{code: http.StatusGone})
		return
	}
	answer := r.faults.answers()
	if answer.replace(w, request) {
		return
	}
	if r.guard != nil {
		r.guard.look(request)
	}
	r.proxy.ServeHTTP(w, request.WithContext(context.WithValue(request.Context(), answerKey{}, answer)))
}

// answerKey is the context key of the answer's fault.
type answerKey struct{}

// modify applies the faults to an answer of the server.
func (r *rewriter) modify(response *http.Response) error {
	if r.shifts != nil {
		r.shifts.answered(r.user, response)
	}
	query := response.Request.URL.Query()
	if answer, ours := response.Request.Context().Value(answerKey{}).(answerFault); ours && response.StatusCode != http.StatusSwitchingProtocols {
		defer answer.spoil(response)
	}
	switch watch := query.Get("watch"); {
	case response.StatusCode == http.StatusSwitchingProtocols:
		response.Body = newRewrittenStream(response.Body, socket, true, r.faults)
	case response.StatusCode == http.StatusOK && (watch == "true" || watch == "1"):
		response.Body = newRewrittenStream(response.Body, framingOf(response.Header.Get("Content-Type")), false, r.faults)
	case watch == "" && r.faults.loses():
		_, _ = io.Copy(io.Discard, response.Body) // the server has executed the request
		return errLost
	}
	return nil
}

// The reasons of API servers.
var reasons = map[int]string{
	http.StatusTooManyRequests:     "TooManyRequests",
	http.StatusInternalServerError: "InternalError",
	http.StatusServiceUnavailable:  "ServiceUnavailable",
	http.StatusGone:                "Expired",
}

// refuse answers like an API server that refuses.
func refuse(w http.ResponseWriter, r refusal) {
	w.Header().Set("Content-Type", "application/json")
	if r.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(r.retryAfter))
	}
	w.WriteHeader(r.code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": r.code, "reason": reasons[r.code],
		"message": fmt.Sprintf("chaos: %s", strings.ToLower(http.StatusText(r.code))),
	})
}
