// Package trace records what the gears of one process do, and keeps a picture of it.
//
// # Concept
//
//	gears ── Trace hooks ──▶ Recorder ──▶ collector ──▶ fold ──┬──▶ History, for the view
//	          (adapters)     bounded       every 50 ms         └──▶ a file
//
// An adapter copies names and numbers of a hook into the [Recorder]'s buffer. The collector, one
// goroutine, numbers the events, folds them into a [State], and encodes each as one line of JSON
// ([Event]) with the difference that it makes in the State.
//
// A recording is a [Header], the line of a whole State, and the lines of events, with another whole
// State after 1,000 of them, but not before they are as long as the last one: States are half of a
// recording at most. Whoever reads it applies JSON merge patches (RFC 7396), and knows nothing of
// the gears.
//
// # Guarantees
//
// A hook never waits for a reader, a disk or a browser. It takes one leaf lock for the time of a
// copy, and does not allocate. When the buffer is full, the new event is dropped and counted. The
// recording then ends with trace.lost, which has the number of lost events by gear, and trace.end.
// The run goes on.
//
// Adapters copy the listed fields only: names, resource versions, counts and durations. No header,
// no body, no label and no data of an object gets into an event. Texts of errors pass
// restclient.Redact and have at most 200 bytes.
//
// # Goroutines
//
// [Start] starts the collector; [Recorder.Stop] records what is left and ends it.
//
// # Failure
//
// A file that cannot be written ends the recording, as lost events do, never the run;
// [Recorder.Err] has the error.
//
// # Testing
//
// A test walks the Trace structs, calls every hook, and finds its event under the name of its gear
// and its own, as in deltafifo.queued. At rest the fold equals the gears' snapshots, and the
// differences of random events make the State. A canary in every argument must not appear in a
// line.
package trace
