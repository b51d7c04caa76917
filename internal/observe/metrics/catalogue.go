package metrics

import (
	"cmp"
	"slices"

	"orrery/queue"
)

// Kind is the type of a metric.
type Kind string

// The kinds of metrics.
const (
	Counter   Kind = "counter"   // never decreases while the process runs
	Gauge     Kind = "gauge"     // the current value
	Histogram Kind = "histogram" // counts observations by size
)

// Definition describes a metric.
type Definition struct {
	Name string
	Kind Kind
	// Labels tell the values of the metric apart. None ever holds the name of a namespace or of an
	// object.
	Labels []string
	// Buckets are the upper bounds of a histogram's buckets, ascending, without infinity.
	Buckets []float64
	// Help is one sentence.
	Help string
	// Kubernetes reports whether name, labels, unit and buckets are those of Kubernetes components.
	Kubernetes bool
}

// Definitions returns every metric, sorted by name. docs/operate/observing.md explains them.
func Definitions() []Definition {
	sorted := make([]Definition, 0, len(catalogue))
	for _, d := range catalogue {
		sorted = append(sorted, *d)
	}
	slices.SortFunc(sorted, func(a, b Definition) int { return cmp.Compare(a.Name, b.Name) })
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
		Help: "Keys added to the work queue, without those that were waiting already."})
	queueLatency = define(Definition{Name: queue.MetricLatency, Kind: Histogram, Labels: []string{"name"}, Kubernetes: true,
		Buckets: queue.MetricBuckets(),
		Help:    "Seconds that a key waited in the work queue before a worker took it."})
	queueWork = define(Definition{Name: queue.MetricWorkDuration, Kind: Histogram, Labels: []string{"name"}, Kubernetes: true,
		Buckets: queue.MetricBuckets(),
		Help:    "Seconds that a worker took to process a key of the work queue."})
	queueUnfinished = define(Definition{Name: queue.MetricUnfinishedWork, Kind: Gauge, Labels: []string{"name"}, Kubernetes: true,
		Help: "Seconds that the keys in progress have been in progress, summed up. If it rises by n seconds a second, n workers are stuck or busy for long."})
	queueLongest = define(Definition{Name: queue.MetricLongestRunning, Kind: Gauge, Labels: []string{"name"}, Kubernetes: true,
		Help: "Seconds that the oldest key in progress has been in progress."})
	queueRetries = define(Definition{Name: queue.MetricRetries, Kind: Counter, Labels: []string{"name"}, Kubernetes: true,
		Help: "Keys added to the work queue after a delay: retries and planned looks."})
)

// Requests to the API server, as component-base registers them.
var (
	requestSeconds = []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}
	requestBytes   = []float64{64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216}

	requestsTotal = define(Definition{Name: "rest_client_requests_total", Kind: Counter, Labels: []string{"code", "method", "host"}, Kubernetes: true,
		Help: "Requests sent to the API server, watches and retries included, by the HTTP status of the answer (<error>: no answer), method and host."})
	requestRetries = define(Definition{Name: "rest_client_request_retries_total", Kind: Counter, Labels: []string{"code", "verb", "host"}, Kubernetes: true,
		Help: "Retries of requests, by the HTTP status of the answer to the retry, HTTP method and host."})
	requestDuration = define(Definition{Name: "rest_client_request_duration_seconds", Kind: Histogram, Labels: []string{"verb", "host"}, Kubernetes: true,
		Buckets: requestSeconds,
		Help:    "Seconds that requests took, waits and retries included, by HTTP method and host. Watches are not counted."})
	rateLimiterDuration = define(Definition{Name: "rest_client_rate_limiter_duration_seconds", Kind: Histogram, Labels: []string{"verb", "host"}, Kubernetes: true,
		Buckets: requestSeconds,
		Help:    "Seconds that requests waited for this client's own rate limit, by HTTP method and host; 0 for those that did not wait."})
	requestSize = define(Definition{Name: "rest_client_request_size_bytes", Kind: Histogram, Labels: []string{"verb", "host"}, Kubernetes: true,
		Buckets: requestBytes,
		Help:    "Bytes of the bodies of requests, by HTTP method and host. Watches are not counted."})
	responseSize = define(Definition{Name: "rest_client_response_size_bytes", Kind: Histogram, Labels: []string{"verb", "host"}, Kubernetes: true,
		Buckets: requestBytes,
		Help:    "Bytes of the bodies of answers, uncompressed, by HTTP method and host. Watches are not counted."})
)

// Leader election, as component-base registers it.
var (
	leaderStatus = define(Definition{Name: "leader_election_master_status", Kind: Gauge, Labels: []string{"name"}, Kubernetes: true,
		Help: "1 if this process works, 0 if it stands by. With leader election it holds the Lease of that name."})
	leaderSlowPath = define(Definition{Name: "leader_election_slowpath_total", Kind: Counter, Labels: []string{"name"}, Kubernetes: true,
		Help: "Renewals of the Lease that had to read it first, because it was not as this process had last seen it."})
)

// Informers, as component-base registers them (KEP-4346).
var (
	informerLabels = []string{"name", "group", "version", "resource"}

	informerQueued = define(Definition{Name: "informer_queued_items", Kind: Gauge, Labels: informerLabels, Kubernetes: true,
		Help: "Keys that wait in the DeltaFIFO, between the watch and the store."})
	informerProcessing = define(Definition{Name: "informer_processing_latency_seconds", Kind: Histogram, Labels: informerLabels, Kubernetes: true,
		Buckets: []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		Help:    "Seconds from the time a key left the DeltaFIFO until its changes were in the store and with the listeners."})
	informerVersion = define(Definition{Name: "informer_store_resource_version", Kind: Gauge, Labels: informerLabels, Kubernetes: true,
		Help: "The last 15 digits of the store's resourceVersion. If it stays the same while those of other processes rise, the store is stale."})
)
