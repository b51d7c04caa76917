package metrics

import (
	"net/url"
	"strconv"
	"strings"

	"orrery/restclient"
)

// Requests returns hooks for a client of the server with that URL.
func (m *Metrics) Requests(server string) *restclient.Trace {
	host := server
	if parsed, err := url.Parse(server); err == nil {
		host = readable(parsed.Host)
	}
	return &restclient.Trace{
		RequestDone: func(info restclient.RequestInfo, result restclient.RequestResult) {
			code, method := "<error>", info.Method // Kubernetes' code without an answer
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
			m.passes.requested(info.Origin)
		},
		Finished: func(info restclient.RequestInfo, result restclient.RequestResult) {
			m.histogram(requestDuration, info.Method, host).Observe(result.Duration.Seconds())
		},
	}
}

// readable replaces what is not UTF-8 in a label that comes from the user: the library panics.
func readable(label string) string { return strings.ToValidUTF8(label, "\uFFFD") }
