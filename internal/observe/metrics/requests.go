package metrics

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"orrery/restclient"
)

// attempt is the key of a counter of requests within one host.
type attempt struct {
	code   int
	method string
}

// noAnswer is Kubernetes' code label for a request without an answer.
const noAnswer = "<error>"

func (a attempt) codeLabel() string {
	if a.code == 0 {
		return noAnswer
	}
	return strconv.Itoa(a.code)
}

// Requests returns hooks for a client of the server at that address.
func (m *Metrics) Requests(server string) *restclient.Trace {
	host := hostOf(server)
	counters := func(d *Definition) *children[attempt, prometheus.Counter] {
		return newChildren(func(a attempt) prometheus.Counter { return m.counter(d, a.codeLabel(), a.method, host) })
	}
	histograms := func(d *Definition) *children[string, prometheus.Observer] {
		return newChildren(func(method string) prometheus.Observer { return m.histogram(d, method, host) })
	}
	total, retries := counters(requestsTotal), counters(requestRetries)
	duration, limited := histograms(requestDuration), histograms(rateLimiterDuration)
	sent, received := histograms(requestSize), histograms(responseSize)

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
			m.passes.requested(info.Origin)
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

// methodLabel returns the method if HTTP defines it, so that the number of label values is bounded.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions:
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
