package main

import (
	"time"

	"orrery/upstream/e2e"
)

// work is what the audit log of kube-apiserver says of one controller: its requests, without
// watches, from the deletion of the namespaces until the last of them has gone.
type work struct {
	requests    int
	first, last time.Time // arrival of the first request, and the answer that ended the last namespace
}

// workSince sums up the requests from a moment until the answer that ended the last namespace.
// Later requests, such as those that write Events, may not be in the log yet.
func workSince(moment time.Time, requests []e2e.Request) work {
	var w work
	for _, r := range requests {
		if r.Finalizes() && r.RequestReceivedTimestamp.After(moment) && r.StageTimestamp.After(w.last) {
			w.last = r.StageTimestamp
		}
	}
	for _, r := range requests {
		arrived := r.RequestReceivedTimestamp
		if r.Verb == "watch" || r.Stage != "ResponseComplete" || !arrived.After(moment) || arrived.After(w.last) {
			continue
		}
		w.requests++
		if w.first.IsZero() || arrived.Before(w.first) {
			w.first = arrived
		}
	}
	return w
}

// took returns the time from the first request to the last answer.
func (w work) took() time.Duration { return w.last.Sub(w.first) }
