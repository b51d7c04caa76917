package why

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"orrery/internal/words"
	"orrery/nsctl"
	"orrery/restclient/api"
)

const apiServices = "apiservices.apiregistration.k8s.io"

// apiService returns the APIService of a group version, nil if it is not there.
func (e *Evidence) apiService(groupVersion string) *APIService {
	return find(e.APIServices.Items, func(a APIService) bool { return a.GroupVersion == groupVersion })
}

// failed are the group versions that the last sample could not discover, with the reasons.
func (e *Evidence) failed() map[string]string {
	if e.Second != nil && e.Second.Failed != nil {
		return e.Second.Failed
	}
	return e.Discovery.Failed
}

// Stale are those of them that /apis marks as stale.
func (e *Evidence) Stale() []string {
	if e.Second != nil && e.Second.Failed != nil {
		return e.Second.Stale
	}
	return e.Discovery.Stale
}

// Undiscovered are the group versions that the last sample could not discover, sorted.
func (e *Evidence) Undiscovered() []string {
	return slices.Sorted(maps.Keys(e.failed()))
}

// vouched reports whether the controller's token is gone: the controller has found the namespace
// empty, or another program has said so in its place. Content is not waited for any more.
func (e *Evidence) vouched() bool {
	n := e.Latest()
	return n != nil && !slices.Contains(n.SpecFinalizers, api.FinalizerKubernetes)
}

// undiscoveredFinding returns the common part of C01 to C03.
func undiscoveredFinding(e *Evidence, groupVersion string) Finding {
	f := Finding{Says: groupVersion + " cannot be discovered, so the controller may not call " + e.Name + " empty"}
	if e.saysUndiscovered(groupVersion) {
		f.saw(1, e.Namespace.Request, "condition DiscoveryFailure names %s", groupVersion)
	} else {
		f.lack(nil, "the condition DiscoveryFailure does not name %s yet", groupVersion)
	}
	if reason, first := e.Discovery.Failed[groupVersion]; first {
		f.saw(1, e.Discovery.Request, "/apis: %s", reason)
	} else {
		f.saw(2, e.Discovery.Request, "/apis: %s", e.failed()[groupVersion])
		f.lack(nil, "it could be discovered in the first sample")
	}
	if e.Second != nil {
		f.unread(e.Second.Discovery, "/apis could not be read in the second sample")
	}
	return f
}

// saysUndiscovered reports whether the condition DiscoveryFailure names a group version.
func (e *Evidence) saysUndiscovered(groupVersion string) bool {
	named := regexp.MustCompile(`(?:^|[ ,])` + regexp.QuoteMeta(groupVersion) + `: `)
	return named.MatchString(e.condition(api.NamespaceDeletionDiscoveryFailure))
}

// noServer are the reasons of an APIService whose Service has no ready endpoint.
var noServer = []string{"ServiceNotFound", "EndpointsNotFound", "MissingEndpoints"}

func unavailable(e *Evidence, inside bool) []Finding {
	var findings []Finding
	for _, groupVersion := range e.Undiscovered() {
		service := e.apiService(groupVersion)
		if service == nil || service.Service == nil || service.Available == "True" ||
			(service.Service.Namespace == e.Name) != inside {
			continue
		}
		f := undiscoveredFinding(e, groupVersion)
		f.Culprit = Reference{Resource: apiServices, Name: service.Name}
		f.saw(1, e.APIServices.Request, "APIService %s: Available=%s %s; Service %s", service.Name, service.Available,
			service.Reason, *service.Service)
		f.doubt(service.Available == "", "APIService %s has no condition Available yet", service.Name)
		b := e.backend(*service.Service)
		switch {
		case b == nil:
		case b.Failed != nil:
			f.lack(b.Failed, "whether pods of Service %s may be starting could not be read", service.Service)
		default:
			f.lackStart(e, b)
			isBack := slices.Contains(noServer, service.Reason) || e.now().Sub(b.Changed) < readAgainWithin
			f.doubt(b.Ready > 0 && isBack, "Service %s has %s by now: discovery may follow",
				service.Service, words.Count(b.Ready, "ready endpoint"))
		}
		if inside {
			f.Says = fmt.Sprintf("%s cannot be discovered: its server is behind a Service of %s itself, "+
				"which is deleted", groupVersion, e.Name)
		}
		f.Remedies = append(f.Remedies, Remedy{
			Command: e.kubectl("", "delete apiservice %s", service.Name),
			Loses: groupVersion + " in the whole cluster until its add-on is installed again, and strands what its " +
				"server stores",
		})
		findings = append(findings, f)
	}
	return findings
}

// staleWithoutAPIService is the finding about a group version that discovery still has, and that no
// APIService has any more, as milo-os/milo#662 reports.
func staleWithoutAPIService(e *Evidence, groupVersion string) Finding {
	f := undiscoveredFinding(e, groupVersion)
	f.Culprit = Reference{Resource: apiServices, Name: apiServiceName(groupVersion)}
	f.Says = fmt.Sprintf("discovery has %s, which is stale and has no APIService: it blocks the deletion of "+
		"every namespace", groupVersion)
	f.saw(1, e.APIServices.Request, "no APIService has %s", groupVersion)
	f.Do = []string{"restart kube-apiserver: it forgets a group that nothing serves"}
	f.DoNot = []string{"finalize the namespace by hand: the next one is blocked as well"}
	return f
}

// apiServiceName returns the name that the APIService of a group version must have.
func apiServiceName(groupVersion string) string {
	group, version, _ := strings.Cut(groupVersion, "/")
	return version + "." + group
}

// readAgainWithin is how long kube-apiserver may take to read what a server serves again, after
// that has come back: kube-aggregator does so once a minute.
const readAgainWithin = 75 * time.Second

func staleDiscovery(e *Evidence) []Finding {
	var findings []Finding
	for _, groupVersion := range e.Undiscovered() {
		service := e.apiService(groupVersion)
		if service == nil && e.APIServices.Known() && slices.Contains(e.Stale(), groupVersion) {
			findings = append(findings, staleWithoutAPIService(e, groupVersion))
			continue
		}
		if service == nil || service.Available != "True" ||
			!slices.Contains(slices.Concat(e.Discovery.Stale, e.Stale()), groupVersion) {
			continue
		}
		f := undiscoveredFinding(e, groupVersion)
		f.Culprit = Reference{Resource: apiServices, Name: service.Name}
		server := "kube-apiserver itself"
		if service.Service != nil {
			server = "Service " + service.Service.String()
		}
		f.Says = fmt.Sprintf("the server's discovery of %s is stale although %s answers", groupVersion, server)
		f.saw(1, e.APIServices.Request, "APIService %s: Available=True %s", service.Name, service.Reason)
		f.doubt(e.now().Sub(service.Since) < readAgainWithin,
			"it is Available since %s, and the aggregator reads each group again once a minute", clock(service.Since))
		if e.Second != nil && slices.Contains(e.Second.Stale, groupVersion) {
			f.saw(2, e.Discovery.Request, "/apis: still stale")
		} else if e.Second != nil && e.Second.Discovery == nil {
			f.lack(nil, "in the second sample /apis says something else of it: %s", e.Second.Failed[groupVersion])
		}
		probe := find(e.Probes, func(p Probe) bool { return p.GroupVersion == groupVersion })
		switch {
		case probe == nil:
			f.lack(nil, "the group version itself was not asked for")
		case probe.Failed != nil && probe.Failed.Code != 403:
			continue // it does not answer either; the APIService will follow
		case probe.Failed != nil:
			f.lack(probe.Failed, "the group version itself may not be read")
		default:
			f.saw(1, probe.Request, "GET of the group version: 200")
		}
		findings = append(findings, f)
	}
	return findings
}

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
