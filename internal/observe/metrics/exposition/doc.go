// Package exposition keeps counters, gauges and histograms, and writes them in the text format that
// Prometheus reads.
//
// # Concept
//
// A [Registry] holds families, each with a name, a type and labels; a family has one value for each
// set of label values:
//
//	# HELP orrery_passes_total Passes over namespaces, by how they ended.
//	# TYPE orrery_passes_total counter
//	orrery_passes_total{result="done"} 12
//	orrery_passes_total{result="failed"} 1
//
// The format (version 0.0.4) is small enough to write by hand. The usual library,
// prometheus/client_golang, brings the protobuf runtime, whose use of reflection keeps the linker
// from removing any exported method of the program. With it the binary grows by 7.5 MB and a
// process at rest by 4.5 MB, a quarter of its memory. The library's parser and linter test what is
// written.
//
// # Guarantees
//
// Counting and observing neither allocate nor lock. Values are sorted by their labels and families
// by name, so that two readings can be compared line by line. A histogram's count is always the sum
// of its buckets, even if it is read while it is being filled.
//
// # Goroutines
//
// None. All functions may be called from any goroutine. Registered functions are called by the
// goroutine that reads.
//
// # Failure
//
// Two families of one name and different kinds, or a wrong number of label values, are mistakes in
// the program and panic.
//
// # Testing
//
// Prometheus' own parser reads the text, which is compared with what the library writes for the
// same values. Random label values survive the round trip.
//
// Next: package internal/observe/debugserver
package exposition
