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
// A line never holds a token, a key, a header or the content of an object. Errors are searched for what looks like a
// secret, and what varies in a line for the secrets that are known ([Logger.Hide]). Lines are whole, in either of two formats: text
// for people, JSON for machines.
//
// Every line of a pass over a namespace, and of the requests that it makes, carries the reconcile_id of that pass: the
// logger names each pass in the context that the pass works with (nsctl.Trace.PassContext, restclient.WithOrigin).
//
// Levels: info tells what changed and what went wrong, the same news of a namespace once a minute; -v=1 adds each
// pass and each retry; -v=2 adds each request, list and watch; -v=3 adds each event and each queue operation.
//
// # Goroutines
//
// The adapters run on the goroutines of the gears. A logger that [Start] made has one goroutine, which writes, and which
// Stop ends; one that [New] made has none.
//
// # Failure
//
// A log must not stop a controller. What a logger of Start cannot write is dropped, counted ([Logger.Dropped]) and told of
// in a line of its own when lines get through again. Whoever logs waits until the line is out, so that a crash takes none
// back, but for a moment at most, and not at all while the writer is stuck.
//
// # Testing
//
// Lines are compared as text. Every log statement that there is is reached with canary secrets in what it is given; a new
// one that no test reaches fails. Writers that fail or hang are tried in bubbles and for real.
//
// Next: package controllers
package logs
