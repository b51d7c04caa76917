package metrics

import (
	"slices"

	"orrery/queue"
)

// Definitions returns every metric, sorted by name. docs/observing.md has the same table; a test compares
// the two.
func Definitions() []Definition {
	sorted := make([]Definition, 0, len(catalogue))
	for _, d := range catalogue {
		sorted = append(sorted, *d)
	}
	slices.SortFunc(sorted, func(a, b Definition) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return sorted
}

var catalogue []*Definition

func define(d Definition) *Definition {
	catalogue = append(catalogue, &d)
	return &d
}

// The work queue, as component-base registers it.
var (
	queueDepth = define(Definition{Name: queue.MetricDepth, Kind: Gauge, Labels: []string{"name"}, Kubernetes: true,
		Help: "Keys that wait in the work queue for a worker."})
	queueAdds = define(Definition{Name: queue.MetricAdds, Kind: Counter, Labels: []string{"name"}, Kubernetes: true,
		Help: "Keys added to the work queue; additions of a key that waits already are not counted."})
	queueLatency = define(Definition{Name: queue.MetricLatency, Kind: Histogram, Labels: []string{"name"}, Kubernetes: true,
		Buckets: queue.MetricBuckets(),
		Help:    "Seconds that a key waited in the work queue before a worker took it."})
	queueWork = define(Definition{Name: queue.MetricWorkDuration, Kind: Histogram, Labels: []string{"name"}, Kubernetes: true,
		Buckets: queue.MetricBuckets(),
		Help:    "Seconds that a worker had a key of the work queue in hand."})
	queueUnfinished = define(Definition{Name: queue.MetricUnfinishedWork, Kind: Gauge, Labels: []string{"name"}, Kubernetes: true,
		Help: "Seconds that all keys in the workers' hands have been there, summed up. If it rises by n seconds a second, n workers are stuck or busy for long."})
	queueLongest = define(Definition{Name: queue.MetricLongestRunning, Kind: Gauge, Labels: []string{"name"}, Kubernetes: true,
		Help: "Seconds that the oldest of the keys in the workers' hands has been there."})
	queueRetries = define(Definition{Name: queue.MetricRetries, Kind: Counter, Labels: []string{"name"}, Kubernetes: true,
		Help: "Keys added to the work queue for later: retries, and looks that were planned."})
)

// Requests to the API server, as component-base registers them.
var (
	requestSeconds = []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}
	requestBytes   = []float64{64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216}

	requestsTotal = define(Definition{Name: "rest_client_requests_total", Kind: Counter, Labels: []string{"code", "method", "host"}, Kubernetes: true,
		Help: "Requests sent to the API server, watches and repetitions included, by the HTTP status of the answer (<error>: there was none), method and host."})
	requestRetries = define(Definition{Name: "rest_client_request_retries_total", Kind: Counter, Labels: []string{"code", "verb", "host"}, Kubernetes: true,
		Help: "Requests that repeated one before, by the HTTP status of the answer to the repetition, HTTP method and host."})
	requestDuration = define(Definition{Name: "rest_client_request_duration_seconds", Kind: Histogram, Labels: []string{"verb", "host"}, Kubernetes: true,
		Buckets: requestSeconds,
		Help:    "Seconds that requests took, with the waits and repetitions that they needed, by HTTP method and host. Watches are not among them."})
	rateLimiterDuration = define(Definition{Name: "rest_client_rate_limiter_duration_seconds", Kind: Histogram, Labels: []string{"verb", "host"}, Kubernetes: true,
		Buckets: requestSeconds,
		Help:    "Seconds that requests waited for this client's own rate limit, by HTTP method and host; 0 for those that did not have to."})
	requestSize = define(Definition{Name: "rest_client_request_size_bytes", Kind: Histogram, Labels: []string{"verb", "host"}, Kubernetes: true,
		Buckets: requestBytes,
		Help:    "Bytes of the bodies of requests, by HTTP method and host. Watches are not among them."})
	responseSize = define(Definition{Name: "rest_client_response_size_bytes", Kind: Histogram, Labels: []string{"verb", "host"}, Kubernetes: true,
		Buckets: requestBytes,
		Help:    "Bytes of the bodies of answers, uncompressed, by HTTP method and host. Watches are not among them."})
)

// Leader election, as component-base registers it.
var (
	leaderStatus = define(Definition{Name: "leader_election_master_status", Kind: Gauge, Labels: []string{"name"}, Kubernetes: true,
		Help: "1 if this process holds the Lease of that name and works, 0 if it stands by."})
	leaderSlowPath = define(Definition{Name: "leader_election_slowpath_total", Kind: Counter, Labels: []string{"name"}, Kubernetes: true,
		Help: "Renewals of the Lease that had to read it first, because what was remembered of it had changed."})
)

// Informers, as component-base registers them (KEP-4346).
var (
	informerLabels = []string{"name", "group", "version", "resource"}

	informerQueued = define(Definition{Name: "informer_queued_items", Kind: Gauge, Labels: informerLabels, Kubernetes: true,
		Help: "Keys that wait in the DeltaFIFO, between the watch and the store."})
	informerProcessing = define(Definition{Name: "informer_processing_latency_seconds", Kind: Histogram, Labels: informerLabels, Kubernetes: true,
		Buckets: []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		Help:    "Seconds from the moment in which a key left the DeltaFIFO until its changes were in the store and with the listeners."})
	informerVersion = define(Definition{Name: "informer_store_resource_version", Kind: Gauge, Labels: informerLabels, Kubernetes: true,
		Help: "The resourceVersion up to which the store is filled, its last 15 digits. One that stands still while those of others rise belongs to a stale store."})
)
