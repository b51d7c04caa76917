package why

import (
	"fmt"
	"slices"
	"strings"

	"orrery/nsctl"
	"orrery/restclient/api"
)

func notDeleted(e *Evidence) []Finding {
	n := e.Latest()
	var findings []Finding
	for i := range e.Types {
		t := &e.Types[i]
		if server := e.refusesItself(t); server != nil {
			findings = append(findings, e.refusal(t, server))
			continue
		}
		if t.Name() == "pods" || !e.isUnexpected(t) {
			continue
		}
		untouched := find(t.Objects, func(o Object) bool { return o.Deleted.IsZero() && !o.Created.After(n.Deleted) })
		if untouched == nil {
			continue
		}
		f := Finding{Culprit: Reference{Resource: t.Name(), Namespace: e.Name, Name: untouched.Name}, Blocks: t.all()}
		f.Says = fmt.Sprintf("the server of %s does not delete what it promises to", t.Name())
		f.saw(1, n.Request, "ContentFailure: unexpected items still remain of %s", t.Name())
		f.saw(1, t.Request, "%s/%s has no deletionTimestamp", t.Name(), untouched.Name)
		still, known := e.standstill(t, *untouched)
		if known && !still {
			continue
		}
		f.doubt(!known, "%s", e.seenOnce())
		if t.IsCustom() {
			f.unread(e.APIServices.Failed, "whether another server serves %s could not be read", t.Name())
		}
		if server := e.Promises(t); server != nil && e.backend(*server) != nil {
			f.unread(e.backend(*server).Failed, "whether Service %s was changed could not be read", server)
			f.lackPass(e, "Service "+server.String(), e.backend(*server).Changed)
		}
		findings = append(findings, f)
	}
	return findings
}

// refusesItself returns the APIService of a type that its own server, behind a Service, refuses to
// list or does not answer for; nil for none. kube-apiserver's refusal names the user and the verb.
func (e *Evidence) refusesItself(t *Type) *APIService {
	if t.Failed == nil || !slices.Contains([]int{403, 503, 504}, t.Failed.Code) {
		return nil
	}
	server := e.apiService(t.GVR().GroupVersion().String())
	if server == nil || server.Service == nil || server.Available != "True" {
		return nil
	}
	if strings.Contains(t.Failed.Message, `User "`) && strings.Contains(t.Failed.Message, " cannot ") {
		return nil
	}
	return server
}

// refusal is the finding about a type that its own server refuses to list.
func (e *Evidence) refusal(t *Type, server *APIService) Finding {
	f := Finding{Culprit: Reference{Resource: apiServices, Name: server.Name}, Blocks: []Blocked{{Resource: t.Name()}}}
	f.Says = fmt.Sprintf("the server of %s, behind Service %s, refuses to list them itself", t.Name(), server.Service)
	f.saw(1, t.Failed.Request, "%d: %s", t.Failed.Code, t.Failed.Message)
	f.saw(1, e.APIServices.Request, "APIService %s: Available=True; Service %s", server.Name, server.Service)
	if content := e.condition(api.NamespaceDeletionContentFailure); strings.Contains(content, t.Failed.Message) {
		f.saw(1, e.Namespace.Request, "ContentFailure has the same text")
	} else {
		f.lack(nil, "ContentFailure does not say so: it may be refused to this user alone")
	}
	return f
}

// isUnexpected reports whether ContentFailure says that objects of a type remain although they were
// deleted.
func (e *Evidence) isUnexpected(t *Type) bool {
	unexpected := (&nsctl.UnexpectedItemsError{Namespace: e.Name, Resource: t.GVR()}).Error()
	return slices.ContainsFunc(texts(e.condition(api.NamespaceDeletionContentFailure)),
		func(text string) bool { return strings.HasSuffix(text, unexpected) })
}

// Promises returns the Service of the aggregated API server that is said to delete a type, and does
// not; nil for none.
func (e *Evidence) Promises(t *Type) *Service {
	server := e.apiService(t.GVR().GroupVersion().String())
	if server == nil || !e.isUnexpected(t) {
		return nil
	}
	return server.Service
}

// corrupt matches the storage's error text in a 500.
var corrupt = []string{`unable to transform key "`, "failed to read one or more ", "unable to decode ",
	"failed to decrypt"}

func unreadable(e *Evidence) []Finding {
	readable := slices.ContainsFunc(e.Types, func(t Type) bool { return t.Request != "" && t.Failed == nil })
	if !readable {
		return nil // the server itself has a problem
	}
	var findings []Finding
	for _, t := range e.Types {
		if t.Failed == nil || t.Failed.Code != 500 || !namesCorruption(t.Failed.Message) {
			continue
		}
		f := Finding{Culprit: Reference{Resource: t.Name(), Namespace: e.Name}, Blocks: []Blocked{{Resource: t.Name()}}}
		f.Says = fmt.Sprintf("objects of %s cannot be read from the storage", t.Name())
		f.saw(1, t.Failed.Request, "500: %s", t.Failed.Message)
		f.saw(1, "", "other types can be listed")
		f.lackFailure(e, &t, namesCorruption)
		findings = append(findings, f)
	}
	return findings
}

// namesCorruption reports whether a server's text says that it cannot read an object.
func namesCorruption(text string) bool { return containsAny(text, corrupt) }

// lackFailure adds to a finding about a list that failed in the first sample whether it fails again
// with a text of the same kind, and acts already.
func (f *Finding) lackFailure(e *Evidence, t *Type, same func(text string) bool) {
	switch second := e.Second.typeOf(t); {
	case second == nil && e.Second != nil:
		f.lack(nil, "%s were not listed in the second sample", t.Name())
	case second == nil:
	case second.Failed == nil:
		f.lack(nil, "%s could be read in the second sample", t.Name())
	case !same(second.Failed.Message):
		f.lack(second.Failed, "the second list of %s failed otherwise", t.Name())
	}
	if e.onlyPodsYet() {
		f.Certainty = Later
	}
}
