package metrics

import (
	"net/url"
	"strconv"

	"orrery/restclient"
)

// Requests returns hooks for a client of the server with that URL.
func (m *Metrics) Requests(server string) *restclient.Trace {
	host := server
	if parsed, err := url.Parse(server); err == nil {
		host = parsed.Host
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
