package metrics

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"orrery/restclient"
)

// noAnswer is Kubernetes' code label for a request without an answer.
const noAnswer = "<error>"

// Requests returns hooks for a client of the server at that address.
func (m *Metrics) Requests(server string) *restclient.Trace {
	host := hostOf(server)
	return &restclient.Trace{
		RequestDone: func(info restclient.RequestInfo, result restclient.RequestResult) {
			code, method := noAnswer, methodLabel(info.Method)
			if result.Code != 0 {
				code = strconv.Itoa(result.Code)
			}
			m.counter(requestsTotal, code, method, host).Inc()
			if info.Attempt > 1 {
				m.counter(requestRetries, code, method, host).Inc()
			}
			if result.Limited {
				m.histogram(rateLimiterDuration, method, host).Observe(result.Waited.Seconds())
			}
			if info.Verb != "watch" {
				m.histogram(requestSize, method, host).Observe(float64(result.Sent))
			}
			m.passes.requested(info.Origin)
		},
		Finished: func(info restclient.RequestInfo, result restclient.RequestResult) {
			method := methodLabel(info.Method)
			m.histogram(requestDuration, method, host).Observe(result.Duration.Seconds())
			if result.Code != 0 {
				m.histogram(responseSize, method, host).Observe(float64(result.Received))
			}
		},
	}
}

// methodLabel returns the method if HTTP defines it, so that the number of label values is bounded.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead,
		http.MethodOptions:
		return method
	}
	return "other"
}

// hostOf returns host and port of a server's address, with or without a scheme.
func hostOf(server string) string {
	if !strings.Contains(server, "://") {
		server = "https://" + server
	}
	parsed, err := url.Parse(server)
	if err != nil {
		return "invalid"
	}
	return parsed.Host
}
