package trace

import (
	"time"

	"orrery/controller/leaderelection"
	"orrery/restclient"
)

// Requests returns the hooks of an API client.
func (r *Recorder) Requests() *restclient.Trace {
	if r == nil {
		return nil
	}
	start := func(hook string) func(restclient.RequestInfo) {
		return func(i restclient.RequestInfo) {
			r.put(record{
				hook: hook, in: i.Origin, key: keyOf(i), a: verbOf(i), b: i.Resource.TypeName(), c: i.Path,
				x: int64(i.Attempt), id: i.ID,
			})
		}
	}
	done := func(hook string) func(restclient.RequestInfo, restclient.RequestResult) {
		return func(i restclient.RequestInfo, result restclient.RequestResult) {
			r.put(record{
				hook: hook, rv: result.ResourceVersion, n: int64(i.Attempt), took: result.Duration, err: result.Err,
				x: int64(result.Code), id: i.ID,
			})
		}
	}
	return &restclient.Trace{
		RequestStart: start("restclient.requestStart"), WatchOpened: start("restclient.watchOpened"),
		RequestDone: done("restclient.requestDone"), Finished: done("restclient.finished"),
		Retry: func(i restclient.RequestInfo, wait time.Duration, err error) {
			r.put(record{hook: "restclient.retry", took: wait, err: err, id: i.ID})
		},
		Throttled: func(i restclient.RequestInfo, wait time.Duration) {
			r.put(record{hook: "restclient.throttled", took: wait, id: i.ID})
		},
		WatchClosed: func(i restclient.RequestInfo, frames int64, open time.Duration, err error) {
			r.put(record{hook: "restclient.watchClosed", n: frames, took: open, err: err, id: i.ID})
		},
		Warning: func(w restclient.Warning) { r.put(record{hook: "restclient.warning", a: w.Origin, b: w.Text}) },
	}
}

// verbOf returns the Kubernetes verb, or the method of a raw request.
func verbOf(i restclient.RequestInfo) string {
	if i.Verb == "" {
		return i.Method
	}
	return i.Verb
}

// keyOf returns the key of the object. The path has both parts of the key of a namespaced object;
// here is the namespace, which is the key that the gears of the namespace controller have.
func keyOf(i restclient.RequestInfo) string {
	if i.Namespace != "" {
		return i.Namespace
	}
	return i.Name
}

// Election returns the hooks of the leader election.
func (r *Recorder) Election() *leaderelection.Trace {
	if r == nil {
		return nil
	}
	return &leaderelection.Trace{
		Acquired: func(t leaderelection.Term) { r.put(record{hook: "leaderelection.acquired", a: t.Identity}) },
		Renewed:  func(took time.Duration) { r.put(record{hook: "leaderelection.renewed", took: took}) },
		Failed:   func(err error, _ bool) { r.put(record{hook: "leaderelection.failed", err: err}) },
		Lost:     func(err error) { r.put(record{hook: "leaderelection.lost", err: err}) },
		Released: func(err error) { r.put(record{hook: "leaderelection.released", err: err}) },
		NewLeader: func(identity string, silent time.Duration) {
			r.put(record{hook: "leaderelection.newLeader", a: identity, took: silent})
		},
	}
}
