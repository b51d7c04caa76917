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
	Name string // orrery_…, unless Kubernetes components have the metric, with these labels and buckets
	Kind Kind
	Help string // one sentence
	// Labels tell the values of the metric apart. None ever holds the name of a namespace or of an
	// object.
	Labels []string
	// Buckets are the upper bounds of a histogram's buckets, ascending, without infinity.
	Buckets []float64
}

// Definitions returns every metric of this package, sorted by name. docs/operate/observing.md
// explains them.
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

func counter(name, help string, labels ...string) *Definition {
	return define(Definition{Name: name, Kind: Counter, Help: help, Labels: labels})
}

func gauge(name, help string, labels ...string) *Definition {
	return define(Definition{Name: name, Kind: Gauge, Help: help, Labels: labels})
}

func histogram(name, help string, buckets []float64, labels ...string) *Definition {
	return define(Definition{Name: name, Kind: Histogram, Help: help, Buckets: buckets, Labels: labels})
}

// The work queue, as component-base registers it.
var (
	queueDepth   = gauge(queue.MetricDepth, "Keys that wait in the work queue for a worker.", "name")
	queueAdds    = counter(queue.MetricAdds, "Keys added to the work queue that were not waiting already.", "name")
	queueLatency = histogram(queue.MetricLatency,
		"Seconds that a key waited in the work queue before a worker took it.", queue.MetricBuckets(), "name")
	queueWork = histogram(queue.MetricWorkDuration,
		"Seconds that a worker took to process a key of the work queue.", queue.MetricBuckets(), "name")
	queueUnfinished = gauge(queue.MetricUnfinishedWork,
		"Seconds that the keys in progress have been in progress, summed up.", "name")
	queueLongest = gauge(queue.MetricLongestRunning, "Seconds that the oldest key has been in progress.", "name")
	queueRetries = counter(queue.MetricRetries,
		"Keys added to the work queue after a delay: retries and planned looks.", "name")
)

// Requests to the API server, as component-base registers them.
var (
	requestSeconds = []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}

	requestsTotal = counter("rest_client_requests_total",
		"Requests sent, watches and retries included; the code <error> means no answer.", "code", "method", "host")
	requestRetries = counter("rest_client_request_retries_total",
		"Retries of requests, by the code of the answer to the retry.", "code", "verb", "host")
	requestDuration = histogram("rest_client_request_duration_seconds",
		"Seconds that requests took, waits and retries included, without watches.", requestSeconds, "verb", "host")
	rateLimiterDuration = histogram("rest_client_rate_limiter_duration_seconds",
		"Seconds that requests waited for this client's own rate limit.", requestSeconds, "verb", "host")
)

// Leader election and controllers, as component-base registers them.
var (
	leaderStatus = gauge("leader_election_master_status",
		"1 if this process works, 0 if it stands by; the name is that of the Lease.", "name")
	controllersRunning = gauge("running_managed_controllers",
		"1 if the controller works in this process, 0 if it stands by or waits for its resource.", "name", "manager")
)

// Informers. component-base registers the first two as well (KEP-4346).
var (
	informerLabels = []string{"name", "group", "version", "resource"}
	informerQueued = gauge("informer_queued_items",
		"Keys that wait in the DeltaFIFO, between the watch and the store.", informerLabels...)
	informerProcessing = histogram("informer_processing_latency_seconds",
		"Seconds from the DeltaFIFO until the changes of a key were in the store and with the listeners.",
		[]float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}, informerLabels...)

	informerObjects = gauge("orrery_informer_objects", "Objects in the informer's store.", "informer")
	informerSynced  = gauge("orrery_informer_synced",
		"1 if the informer's store has received the complete initial list, else 0.", "informer")
	informerErrors = counter("orrery_informer_process_errors_total",
		"Events that the informer could not apply completely.", "informer")

	reflectorLists = counter("orrery_reflector_lists_total",
		"List requests of the informer; each page counts as one.", "informer")
	reflectorWatches = counter("orrery_reflector_watches_total",
		"Watches and streaming lists that the informer requested.", "informer")
	reflectorEvents = counter("orrery_reflector_events_total",
		"Changes received over the informer's watches.", "informer")
	reflectorFailures = gauge("orrery_reflector_consecutive_failures",
		"Consecutive failed attempts to list or watch; above 0 the store may be behind the server.", "informer")
	reflectorErrors = counter("orrery_reflector_errors_total",
		"Failures of lists and watches after which the informer backed off, by their cause.", "informer", "cause")

	listenerBacklog = gauge("orrery_listener_backlog",
		"Events that the handler has not finished, including the one in progress.", "informer", "handler")
	listenerPeak = gauge("orrery_listener_backlog_peak",
		"The largest backlog of the handler since it was registered.", "informer", "handler")
	listenerHandled = counter("orrery_listener_handled_total",
		"Callbacks of the handler that have returned.", "informer", "handler")
	listenerPanics = counter("orrery_listener_panics_total",
		"Callbacks of the handler that panicked; the process went on.", "informer", "handler")
	listenerStalled = gauge("orrery_listener_stalled_seconds",
		"Seconds for which scrapes have seen the handler with events and finish none.", "informer", "handler")
)

// This project's own metrics of the deletion of namespaces and of other controllers.
var (
	deletionSeconds = []float64{0.5, 1, 2, 5, 6, 7.5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600}
	phaseSeconds    = []float64{0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300}

	deletionsInProgress = gauge("orrery_deletions_in_progress",
		"Namespaces that are terminating. A standby counts them as well.")
	oldestDeletion = gauge("orrery_oldest_deletion_seconds",
		"Seconds since the oldest deletion timestamp of a terminating namespace; 0 if there is none.")
	namespacesPassedOver = gauge("orrery_namespaces_passed_over",
		"Terminating namespaces that --namespaces does not select, and that this program leaves alone.")
	deletionsTotal   = counter("orrery_deletions_total", "Namespaces removed while this process worked.")
	deletionDuration = histogram("orrery_deletion_duration_seconds",
		"Seconds from the deletion timestamp of a namespace until it was gone.", deletionSeconds)
	deletionPhase = histogram("orrery_deletion_phase_seconds",
		"Seconds that the phases of a deletion took.", phaseSeconds, "phase")

	passesTotal  = counter("orrery_passes_total", "Passes over namespaces, by how they ended.", "result")
	passesStuck  = counter("orrery_passes_stuck_total", "Passes longer than a minute, counted after that minute.")
	passRequests = histogram("orrery_pass_requests", "Requests to the API server that one pass made, retries included.",
		[]float64{1, 2, 5, 10, 20, 35, 50, 75, 100, 200, 500, 1000, 5000})
	conflictsTotal = counter("orrery_namespace_conflicts_total",
		"Writes to a namespace that were retried because another client had changed it.")
	finalizationsTotal = counter("orrery_namespace_finalizations_total",
		"Removals of this controller's token from namespaces: success or failure.", "result")
	reportFailures = counter("orrery_namespace_report_failures_total",
		"Conditions that could not be written into a namespace's status.")
	discoveryFailures = counter("orrery_discovery_failures_total",
		"Passes with incomplete discovery. Such a pass finalizes nothing.")
	typeFailures = counter("orrery_content_failures_total",
		"Resource types that could not be emptied in a pass, by resource and group.", "resource")

	controllerPasses = counter("orrery_controller_passes_total",
		"Passes of the other controllers over their objects, by how they ended.", "controller", "result")
)

// Metrics that belong to no gear.
var (
	droppedTotal = counter("orrery_dropped_trace_events_total",
		"Kubernetes Events (by events) and log lines (by logs) that were dropped, and why.", "by", "reason")
	recordedTotal = counter("orrery_events_recorded_total",
		"Kubernetes Events that the API server has accepted, new ones and repetitions.")
	buildInfo = gauge("orrery_build_info", "1; the labels name what is running.", "version", "go_version")
)
