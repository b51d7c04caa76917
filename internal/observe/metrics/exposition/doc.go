// Package exposition keeps counters, gauges and histograms, and writes them in the text format that Prometheus reads.
//
// # Concept
//
// A [Registry] holds families, each with a name, a type and labels; a family has one value for each set of label values:
//
//	# HELP orrery_passes_total Passes over namespaces, by how they ended.
//	# TYPE orrery_passes_total counter
//	orrery_passes_total{result="done"} 12
//	orrery_passes_total{result="failed"} 1
//
// That is nearly all there is to the format (version 0.0.4), so it is made here by hand, as everything else in this
// repository. The usual library, prometheus/client_golang, does more than is needed and comes with the protobuf runtime, whose use
// of reflection keeps the linker from leaving out any exported method of the whole program: with it the binary grows by
// 7.5 MB and a process at rest by 4.5 MB, a quarter of what it takes. The library's parser and linter test what is written.
//
// # Guarantees
//
// Counting and observing allocate nothing and take no lock. A family's values come sorted by their labels, the families
// by name, so that two readings can be compared line by line. In a histogram the count is the sum of the buckets, also when
// it is read while it is being filled.
//
// # Goroutines
//
// None. Everything may be called from any goroutine; functions that are registered are called by whoever reads, one reading
// at a time.
//
// # Failure
//
// Two families of one name and of different kinds, or a number of label values that is not that of the labels, are mistakes in the program and
// panic when they are made.
//
// # Testing
//
// What is written is read by Prometheus' own parser and compared with what the library writes for the same values; random
// label values come back as they were.
//
// Next: package internal/observe/debugserver
package exposition
