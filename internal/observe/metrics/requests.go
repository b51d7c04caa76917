package metrics

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"orrery/internal/observe/metrics/exposition"
	"orrery/restclient"
)

// requests are the metrics of what is asked of API servers.
type requests struct {
	total, retries                    *exposition.Vec[exposition.Counter]
	duration, limited, sent, received *exposition.Vec[exposition.Histogram]
}

func newRequests(registry *exposition.Registry) requests {
	return requests{
		total:    registry.Counters(requestsTotal.desc()),
		retries:  registry.Counters(requestRetries.desc()),
		duration: registry.Histograms(requestDuration.desc()),
		limited:  registry.Histograms(rateLimiterDuration.desc()),
		sent:     registry.Histograms(requestSize.desc()),
		received: registry.Histograms(responseSize.desc()),
	}
}

// attempt is what tells the values of a counter of requests apart, within one host.
type attempt struct {
	code   int
	method string
}

// noAnswer is what Kubernetes writes for the code of a request that was not answered.
const noAnswer = "<error>"

func (a attempt) codeLabel() string {
	if a.code == 0 {
		return noAnswer
	}
	return strconv.Itoa(a.code)
}

// Requests returns hooks for the client of a server, whose address is that of the client's configuration.
func (m *Metrics) Requests(server string) *restclient.Trace {
	host := hostOf(server)
	counters := func(vec *exposition.Vec[exposition.Counter]) *children[attempt, *exposition.Counter] {
		return newChildren(func(a attempt) *exposition.Counter { return vec.With(a.codeLabel(), a.method, host) })
	}
	histograms := func(vec *exposition.Vec[exposition.Histogram]) *children[string, *exposition.Histogram] {
		return newChildren(func(method string) *exposition.Histogram { return vec.With(method, host) })
	}
	total, retries := counters(m.requests.total), counters(m.requests.retries)
	duration, limited := histograms(m.requests.duration), histograms(m.requests.limited)
	sent, received := histograms(m.requests.sent), histograms(m.requests.received)

	return &restclient.Trace{
		RequestDone: func(info restclient.RequestInfo, result restclient.RequestResult) {
			method := methodLabel(info.Method)
			key := attempt{code: result.Code, method: method}
			total.of(key).Inc()
			if info.Attempt > 1 {
				retries.of(key).Inc()
			}
			if result.Limited {
				limited.of(method).Observe(result.Waited.Seconds())
			}
			if info.Verb != "watch" {
				sent.of(method).Observe(float64(result.Sent))
			}
			m.namespaces.passes.requested(info.Origin)
		},
		Finished: func(info restclient.RequestInfo, result restclient.RequestResult) {
			method := methodLabel(info.Method)
			duration.of(method).Observe(result.Duration.Seconds())
			if result.Code != 0 {
				received.of(method).Observe(float64(result.Received))
			}
		},
	}
}

// methodLabel is the method if it is one that HTTP has: a label must not have any number of values.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions:
		return method
	}
	return "other"
}

// hostOf is the host and port in the address of a server, with or without a scheme.
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
