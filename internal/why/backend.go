package why

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/internal/words"
	"orrery/restclient/api"
)

// This page judges whether the server of an admission or conversion webhook can be called.

// failedCalls are in the error of a call that reached no end: of a connection, or of a server that
// answered with something else than a review.
var failedCalls = []string{"x509: ", `Post "`, "connection refused", "context deadline exceeded", "no such host",
	"i/o timeout", "failed to call webhook: ", "received invalid webhook response"}

// noBackend matches the errors without a request.
var noBackend = lazyPattern(`no endpoints available|service "[^"]+" not found|no service port `)

// callFailed reports whether the error of a call says that a request failed.
func callFailed(text string) bool {
	return containsAny(text, failedCalls) && !noBackend().MatchString(text)
}

// isLate reports whether the error of a call is one of the time limit.
func isLate(text string) bool { return strings.Contains(text, "context deadline exceeded") }

// unreachable adds to a finding why the server of a webhook cannot be called. service is nil for a
// server at a URL. text is the error of a call, or "". It returns false if the server is back.
func (e *Evidence) unreachable(f *Finding, service *Service, text string) bool {
	called := callFailed(text) // whatever is seen of the server
	if service == nil {
		f.doubt(!called, "the webhook has a URL, which was not called")
		return true
	}
	if b := e.backend(*service); called && b != nil && b.Failed == nil && b.Ready > 0 {
		f.lackPass(e, "Service "+service.String(), b.Changed)
		f.saw(1, b.Request, "Service %s has %s, and calls of it fail", service, words.Count(b.Ready, "ready endpoint"))
		return true
	}
	down, known := e.backendDown(f, *service)
	return down || !known
}

// lackPass adds to a finding from a condition that something was changed after that was written,
// and that the controller may not have come back: so lately, or it is off.
func (f *Finding) lackPass(e *Evidence, what string, changed time.Time) {
	pass := time.Duration(0) // it ends at once unless calls run into their time limit
	if isLate(e.condition(api.NamespaceDeletionContentFailure)) {
		pass = backOffCap
	}
	began := changed.Add(pass) // a pass that began then or later confirms the condition
	confirmed := slices.ContainsFunc(e.Latest().Writers, func(w Writer) bool { return w.At.After(began) })
	ago := e.now().Sub(changed)
	passed := changed.IsZero() || ago >= 2*backOffCap && !controllerOff(e, &Finding{}, namespaceController)
	f.doubt(!confirmed && !passed, "%s was changed %s ago: the next pass of the controller may succeed",
		what, words.Duration(ago))
}

// restless are the types whose objects are written or expire all the time.
var restless = []string{"events", "events.events.k8s.io", "leases.coordination.k8s.io"}

// lackDeletions does so for the objects whose deletion was denied, and for the namespace, whose
// labels may decide. An object with a newer resourceVersion than the namespace was written after
// its conditions. Restless types count only if nothing else was denied.
func (f *Finding) lackDeletions(e *Evidence) {
	n := e.Latest()
	f.lackPass(e, "the namespace", n.Changed)
	version := func(text string) int {
		number, _ := strconv.Atoi(text) // 0 for a server that has others
		return number
	}
	steady := filter(f.Blocks, func(b Blocked) bool { return !slices.Contains(restless, b.Resource) })
	if len(steady) == 0 {
		steady = f.Blocks
	}
	for i := range e.Types {
		t := &e.Types[i]
		if !slices.ContainsFunc(steady, func(b Blocked) bool { return b.Resource == t.Name() }) {
			continue
		}
		f.doubt(t.Count > len(t.Objects), "not all %s were looked at: one may have been changed since", t.Name())
		written := func(o Object) bool {
			return e.moved(t, o) || version(o.ResourceVersion) > version(n.ResourceVersion)
		}
		if o := find(t.Objects, written); o != nil {
			f.lack(nil, "%s/%s was written or removed after the conditions: the next pass of the controller may "+
				"succeed", t.Name(), o.Name)
		}
	}
}

// backendDown adds the state of a Service to a finding. known is false if it could not be read.
func (e *Evidence) backendDown(f *Finding, service Service) (down, known bool) {
	b := e.backend(service)
	switch {
	case b == nil:
		f.lack(nil, "Service %s was not looked at", service)
		return false, false
	case b.Failed != nil:
		f.lack(b.Failed, "whether Service %s has a ready endpoint is not known", service)
		return false, false
	case !b.Exists:
		f.saw(1, b.Request, "Service %s does not exist", service)
	case b.Ready == 0:
		f.saw(1, b.Request, "Service %s has no ready endpoint", service)
		f.lackStart(e, b)
	default:
		return false, true
	}
	return true, true
}

// lackStart adds to a finding that the pods behind a Service may be starting.
func (f *Finding) lackStart(e *Evidence, b *Backend) {
	age := e.At.Sub(b.Changed)
	f.doubt(b.Ready == 0 && b.Coming > 0 && age < startsWithin,
		"Service %s has %s without Ready, changed %s ago: a server may be starting",
		b.Service, words.Count(b.Coming, "endpoint"), words.Duration(age))
}
