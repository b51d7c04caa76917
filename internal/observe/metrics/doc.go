// Package metrics makes what the gears do into Prometheus metrics.
//
// # Concept
//
// No gear knows Prometheus. Each has hooks and snapshots, and this package has an adapter for each of them:
//
//	hooks of restclient, reflector, deltafifo, nsctl   counters and histograms: what happened
//	queue.MetricsProvider                              the queue's own
//	snapshots of informers                             gauges, and counters that the informer keeps anyway
//
// What a snapshot tells is read when somebody reads the metrics, and costs nothing meanwhile. The same holds for what is set before
// each reading, see [Metrics.BeforeGather].
//
// [Definitions] is the table of all metrics. Where Kubernetes components have a metric for the same thing, its name,
// labels, unit and buckets are taken over as they are, so that dashboards and alerts that exist fit; the rest begins with
// orrery_. docs/observing.md says what to do with them.
//
// # Guarantees
//
// No label holds the name of a namespace or of an object, a UID, or a path: the number of values is bounded by what the
// program and the cluster's resource types are, and whoever may read the metrics learns no names. The registry is of its
// own; nothing is in the library's default one.
//
// Counting a request, or an event of a queue, allocates nothing.
//
// # Goroutines
//
// None of its own. Everything may be called from any goroutine.
//
// # Failure
//
// Counters begin at 0 when the process begins, as Prometheus expects. A reading that goes wrong is an error of
// [Metrics.Gather], which comes with all that could be read.
//
// # Testing
//
// The values are compared with scripted work in virtual time, the text is read by Prometheus' own parser and linter, the
// definitions are compared with Kubernetes' own in the module upstream/.
//
// Next: package internal/observe/debugserver
package metrics
