// Package report writes the results of benchmarks: as a table for people, as JSON and CSV for programs.
//
// # Concept
//
// A table is read, so its numbers have three digits and the prefix that makes them short: 4.2 M/s, 310 ns, 12.3 MiB. JSON
// and CSV are computed with, so theirs are never scaled or rounded, and the unit stands beside them.
//
//	Table   results side by side, one column each; figures, percentiles, what was proven
//	Sweep   results below each other, one row each, for a parameter that was varied
//	JSON    an object: where it ran, and a list of results; see [JSON] for the schema
//	CSV     one row a result, for a spreadsheet; see [CSV] for the columns
//
// [Human] is how the tables write a number; plots write theirs in the same way.
//
// # Guarantees
//
// Names in JSON and CSV are stable: a golden file guards them. What a result does not have is null in JSON, empty in CSV
// and a dash in a table, and never a zero.
//
// # Goroutines
//
// None.
//
// # Failure
//
// The error is that of the writer.
//
// # Testing
//
// Golden files hold what each form looks like; another test reads JSON and CSV back and finds every number unchanged.
//
// Next: package plot
package report
