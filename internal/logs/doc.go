// Package logs turns what the gears tell through their trace hooks into log lines.
//
// # Concept
//
// No gear logs. Each has a Trace struct of callbacks; this package holds the adapters that write a line for those
// that somebody operating the controller wants to know of. Messages are constant sentences; what varies stands in
// fields, so that a line can be searched for and counted.
//
// # Guarantees
//
// A line never holds a token, a key, a header or the content of an object. Lines go to one writer, whole, in
// either of two formats: text for people, JSON for machines.
//
// Levels: info tells what changed and what went wrong, the same news of a namespace once a minute; -v=1 adds each
// pass and each retry; -v=2 adds each request, list and watch; -v=3 adds each event and each queue operation.
//
// # Goroutines
//
// None. The adapters run on the goroutines of the gears.
//
// # Failure
//
// A line that cannot be written is dropped: a full disk must not stop a controller.
//
// # Testing
//
// Lines are compared as text, and canary secrets are searched for in everything that a run writes.
//
// Next: package controllers
package logs
