// Package logs turns the trace hooks of the gears into log lines.
//
// # Concept
//
// No gear logs. Each has a Trace struct of callbacks, and this package has the adapters that write
// a line for what an operator wants to know. Messages are constant sentences, and what varies is in
// fields, so that lines can be searched for and counted.
//
// # Guarantees
//
// A line contains no token, key, header or content of an object. Errors are searched for what looks
// like a secret, and fields for the secrets that are known ([Logger.Hide]). Lines are complete, in
// one of two formats: text for people, JSON for machines. They have no control characters, and long
// strings in them are shortened.
//
// Every line of a pass over a namespace, and of its requests, has the reconcile_id of that pass.
// The logger puts it into the context of the pass (nsctl.Trace.PassContext, restclient.WithOrigin).
//
// Without -v, changes and failures are logged, the same text of a namespace once a minute. -v=1
// adds passes and retries, -v=2 requests, lists and watches. A recording of package trace has what
// every gear does.
//
// # Goroutines
//
// The adapters run on the goroutines of the gears. A logger from [Start] has one goroutine, which
// writes until Stop; a logger from [New] has none.
//
// # Failure
//
// A log must not stop a controller. A logger from Start drops lines that it cannot write, counts
// them ([Logger.Dropped]), and reports their number when lines get through again. A call that logs
// waits until the line has been written, so that a crash loses none. It waits for a moment at most,
// and not at all while the writer is stuck.
//
// # Testing
//
// Lines are compared as text. Every log statement is reached with canary secrets in its arguments;
// a new statement that no test reaches fails. Writers that fail or hang are tested in bubbles and
// in real time.
//
// Next: package controllers
package logs
