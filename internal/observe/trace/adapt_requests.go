package trace

import (
	"time"

	"orrery/controller/leaderelection"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Requests returns the hooks of an API client.
func (r *Recorder) Requests() *restclient.Trace {
	if r == nil {
		return nil
	}
	start := func(k kind) func(restclient.RequestInfo) {
		return func(i restclient.RequestInfo) {
			r.put(record{kind: k, in: i.Origin, key: keyOf(i), a: verbOf(i), b: resourceName(i.Resource), c: i.Path, x: int64(i.Attempt), id: i.ID})
		}
	}
	done := func(k kind) func(restclient.RequestInfo, restclient.RequestResult) {
		return func(i restclient.RequestInfo, result restclient.RequestResult) {
			r.put(record{kind: k, id: i.ID, b: result.ResourceVersion, x: int64(i.Attempt), y: int64(result.Code), z: int64(result.Duration), c: errText(result.Err)})
		}
	}
	return &restclient.Trace{
		RequestStart: start(restclientRequestStart), WatchOpened: start(restclientWatchOpened),
		RequestDone: done(restclientRequestDone), Finished: done(restclientFinished),
		Retry: func(i restclient.RequestInfo, wait time.Duration, err error) {
			r.put(record{kind: restclientRetry, id: i.ID, z: int64(wait), c: errText(err)})
		},
		Throttled: func(i restclient.RequestInfo, wait time.Duration) {
			r.put(record{kind: restclientThrottled, id: i.ID, z: int64(wait)})
		},
		WatchClosed: func(i restclient.RequestInfo, frames int64, open time.Duration, err error) {
			r.put(record{kind: restclientWatchClosed, id: i.ID, x: frames, z: int64(open), c: errText(err)})
		},
		Warning: func(w restclient.Warning) {
			r.put(record{kind: restclientWarning, a: w.Origin, c: shown(w.Text)})
		},
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

// resourceName returns kubectl's name of a resource: "pods", "deployments.apps".
func resourceName(resource api.GroupVersionResource) string {
	if resource.Group == "" {
		return resource.Resource
	}
	return resource.GroupResource()
}

// Election returns the hooks of the leader election.
func (r *Recorder) Election() *leaderelection.Trace {
	if r == nil {
		return nil
	}
	return &leaderelection.Trace{
		Acquired: func(t leaderelection.Term) { r.put(record{kind: electionAcquired, a: t.Identity}) },
		Renewed:  func(took time.Duration) { r.put(record{kind: electionRenewed, z: int64(took)}) },
		SlowPath: func() { r.put(record{kind: electionSlowPath}) },
		Failed:   func(err error, _ bool) { r.put(record{kind: electionFailed, c: errText(err)}) },
		Lost:     func(err error) { r.put(record{kind: electionLost, c: errText(err)}) },
		Released: func(err error) { r.put(record{kind: electionReleased, c: errText(err)}) },
		NewLeader: func(identity string, silent time.Duration) {
			r.put(record{kind: electionNewLeader, a: identity, z: int64(silent)})
		},
		WatchFailed: func(err error, _ bool) { r.put(record{kind: electionWatchFailed, c: errText(err)}) },
	}
}
