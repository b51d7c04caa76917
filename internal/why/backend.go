package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/internal/words"
	"orrery/restclient/api"
)

// This page judges whether the server of an admission or conversion webhook can be called.

// brokenTransfer is in every error of a connection.
var (
	brokenTransfer = []string{"x509: ", `Post "`, "connection refused", "context deadline exceeded", "no such host",
		"i/o timeout"}
	// noBackend matches the errors without a request.
	noBackend     = lazyPattern(`no endpoints available|service "[^"]+" not found|no service port `)
	noServicePort = lazyPattern(`no service port (\d+) found for service`)
)

// transferFailed reports whether the error of a call is one of the connection.
func transferFailed(text string) bool {
	return containsAny(text, brokenTransfer) && !noBackend().MatchString(text)
}

// isLate reports whether the error of a call is one of the time limit.
func isLate(text string) bool { return strings.Contains(text, "context deadline exceeded") }

// unreachable adds to a finding why the server of a webhook cannot be called, and returns how to
// repair it; "" if nothing can be repaired in the terminating namespace. service is nil for a
// server at a URL. text is the error of a call, or "". configuration is the object that has the
// webhook. down is false if the server is back.
func (e *Evidence) unreachable(f *Finding, service *Service, url, text, configuration string) (repair string, down bool) {
	broken := transferFailed(text)
	answered := strings.Contains(text, "failed to call webhook: ") && !broken && !noBackend().MatchString(text) ||
		strings.HasPrefix(text, "received invalid webhook response")
	called := broken || answered // it failed, whatever is seen of the server
	var b *Backend
	if service != nil {
		b = e.backend(*service)
	}
	isThere := b != nil && b.Failed == nil && b.Exists
	if answered && (service == nil || isThere && b.Ready > 0) {
		f.Says = strings.Replace(f.Says, "cannot be reached", "answers with an error", 1)
	}
	wrongPort := noServicePort().FindStringSubmatch(text)
	switch {
	case service == nil:
		f.doubt(!called, "the webhook has a URL, which was not called")
		return fmt.Sprintf("repair the server at %s, or correct the URL or the caBundle in %s",
			orElse(url, "the webhook's URL"), configuration), true
	case isThere && b.External != "":
		f.doubt(!called, "Service %s stands for %s, which was not called", service, b.External)
		return fmt.Sprintf("bring %s back, for which Service %s stands", b.External, service), true
	case isThere && wrongPort != nil && !slices.Contains(b.Ports, wrongPort[1]):
		f.saw(1, b.Request, "Service %s exists, and has no port %s", service, wrongPort[1])
		return fmt.Sprintf("correct the port of the webhook in %s, or give Service %s the port %s",
			configuration, service, wrongPort[1]), true
	case isThere && b.Ready > 0 && called:
		f.lackPass(e, "Service "+service.String(), b.Changed)
		f.saw(1, b.Request, "Service %s has %s, and calls of it fail", service, words.Count(b.Ready, "ready endpoint"))
		return fmt.Sprintf("repair what the error says: the pods of Service %s (their log, a NetworkPolicy), or the "+
			"certificate, caBundle, port, path or timeoutSeconds in %s", service, configuration), true
	}
	if down, known := e.backendDown(f, *service); known && !down {
		return "", false
	}
	if service.Namespace == e.Name {
		return "", true // no pod can start in it
	}
	return e.bringBack(*service), true
}

// lackPass adds to a finding from a condition that something was changed after that was written,
// and so lately that the controller may not have come back.
func (f *Finding) lackPass(e *Evidence, what string, changed time.Time) {
	pass := time.Duration(0) // it ends at once unless calls run into their time limit
	if isLate(e.condition(api.NamespaceDeletionContentFailure)) {
		pass = backOffCap
	}
	began := changed.Add(pass) // a pass that began then or later confirms the condition
	confirmed := slices.ContainsFunc(e.Latest().Writers, func(w Writer) bool { return w.At.After(began) })
	now := e.now()
	switch {
	case confirmed || changed.IsZero():
	case now.Sub(changed) < 2*backOffCap:
		f.lack(nil, "%s was changed %s ago: the next pass of the controller may succeed",
			what, words.Duration(now.Sub(changed)))
	case controllerOff(e, &Finding{}, namespaceController):
		f.lack(nil, "%s was changed after the last pass of a controller: the next one may succeed", what)
	}
}

// lackDeletions does so for the objects whose deletion was denied, and for the namespace, whose
// labels may decide. No time shows that a label was removed, only a resourceVersion that no write
// with a time explains.
func (f *Finding) lackDeletions(e *Evidence) {
	n := e.Latest()
	f.lackPass(e, "the namespace", n.Changed)
	version := func(text string) int {
		number, err := strconv.Atoi(text)
		if err != nil {
			return 0 // a server may have others
		}
		return number
	}
	for _, b := range f.Blocks {
		for _, t := range e.Types {
			if t.Name() != b.Resource || len(f.Missing) > 0 || t.expires() || t.Name() == "leases.coordination.k8s.io" {
				continue // those two change all the time
			}
			f.doubt(t.Count > len(t.Objects), "not all %s were looked at: one may have been changed since", t.Name())
			f.doubt(e.drains(&t),
				"there are fewer %s in the second sample: one that was denied may have gone since", t.Name())
			for _, o := range t.Objects {
				if len(f.Missing) > 0 {
					break
				}
				changed := version(o.ResourceVersion) > version(n.ResourceVersion) && !o.Written.After(n.written())
				if again := e.Second.again(&t, o.Name); again != nil {
					changed = changed || again.ResourceVersion != o.ResourceVersion && !again.Written.After(o.Written)
					o = *again
				}
				f.lackPass(e, b.Resource+"/"+o.Name, o.Changed)
				f.doubt(changed,
					"%s/%s was changed after the conditions were written: the next pass of the controller may succeed",
					b.Resource, o.Name)
			}
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
		f.lack(b.Failed, "Service %s could not be read", service)
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

// bringBack says how to bring the server behind a Service back.
func (e *Evidence) bringBack(service Service) string {
	if slices.Contains(e.Terminating, service.Namespace) {
		return fmt.Sprintf("run the server behind Service %s in another namespace, and name its Service there: %s is terminating, too", service, service.Namespace)
	}
	if b := e.backend(service); b != nil && b.Failed == nil && !b.Exists {
		return fmt.Sprintf("create Service %s and the pods behind it again", service)
	}
	return fmt.Sprintf("bring the pods behind Service %s back", service)
}
