// Package metrics exports what the gears do as Prometheus metrics.
//
// # Concept
//
// No gear knows Prometheus. This package adapts their hooks and snapshots:
//
//	hooks of restclient, reflector, deltafifo, nsctl   counters and histograms
//	queue.MetricsProvider                              the metrics of work queues
//	snapshots of informers                             gauges, and counters that the informer keeps anyway
//
// Snapshots are taken when the metrics are read and cost nothing in between. [Metrics.BeforeGather]
// is for gauges that are set before each reading. Prometheus' own library keeps the values and
// writes them. No gear imports it: it brings the protobuf runtime, whose use of reflection keeps
// the linker from removing any exported method of the program.
//
// [Definitions] is the table of all metrics. A metric that Kubernetes components have as well has
// their name, labels, unit and buckets, so that existing dashboards and alerts fit; the names of
// all others begin with orrery_. docs/operate/observing.md explains how to use them.
//
// # Guarantees
//
// No label holds the name of a namespace or of an object, a UID, or a path. The number of values is
// bounded by the program and the cluster's resource types, and the metrics reveal no names.
//
// Counters start at 0 for every label value that is known at the start. Counting an event of a
// queue does not allocate.
//
// # Goroutines
//
// The library starts some for each reading, which end with it. All functions may be called from any
// goroutine. Snapshots are taken by the goroutine that reads.
//
// # Failure
//
// [Metrics.WriteText] returns the error of its writer. Wrong labels are mistakes in the program and
// panic.
//
// # Testing
//
// The values are compared with scripted work in virtual time. Prometheus' parser and linter read
// the text. The module upstream/ compares the definitions with Kubernetes' own.
//
// Next: package internal/observe/web
package metrics
