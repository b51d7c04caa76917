package why

import (
	"cmp"
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

// rediscovery is the discovery of the second sample, nil if it was not answered.
func (e *Evidence) rediscovery() *Discovery {
	if e.Second == nil || e.Second.Discovery == nil || e.Second.Discovery.Refused != nil {
		return nil
	}
	return e.Second.Discovery
}

// discovery is the last one that was answered.
func (e *Evidence) discovery() Discovery { return *cmp.Or(e.rediscovery(), &e.Discovery) }

// Undiscovered are the group versions that the last sample could not discover, sorted.
func (e *Evidence) Undiscovered() []string {
	return slices.Sorted(maps.Keys(e.discovery().Failed))
}

// isStale reports whether /apis marks a group version as stale.
func (d Discovery) isStale(groupVersion string) bool {
	return strings.HasPrefix(d.Failed[groupVersion], "stale ")
}

// vouched reports whether the controller's token is gone: the controller has found the namespace
// empty, or another program has said so in its place. Content is not waited for any more.
func (e *Evidence) vouched() bool {
	n := e.Latest()
	return n != nil && !slices.Contains(n.SpecFinalizers, api.FinalizerKubernetes)
}

// causeOfGroup returns which of C01 to C03 keeps a group version from being discovered; "" for
// none. service is its APIService, nil for none.
func (e *Evidence) causeOfGroup(groupVersion string, service *APIService) string {
	isStale := e.discovery().isStale(groupVersion)
	switch {
	case service == nil && e.APIServices.Known() && isStale,
		service != nil && service.Available == "True" && (isStale || e.Discovery.isStale(groupVersion)):
		return "C03"
	case service == nil || service.Service == nil || service.Available == "True":
		return ""
	case service.Service.Namespace == e.Name:
		return "C02"
	}
	return "C01"
}

// undiscovered returns what judges one of C01 to C03.
func undiscovered(id string) func(*Evidence) []Finding {
	return func(e *Evidence) (findings []Finding) {
		for _, groupVersion := range e.Undiscovered() {
			service := e.apiService(groupVersion)
			if e.causeOfGroup(groupVersion, service) != id {
				continue
			}
			group, version, _ := strings.Cut(groupVersion, "/")
			f := Finding{Culprit: Reference{Resource: apiServices, Name: version + "." + group}}
			if e.saysUndiscovered(groupVersion) {
				f.saw(1, e.Namespace.Request, "condition DiscoveryFailure names %s", groupVersion)
			} else {
				f.lack(nil, "the condition DiscoveryFailure does not name %s yet", groupVersion)
			}
			if first := e.Discovery.Failed[groupVersion]; first != "" {
				f.saw(1, e.Discovery.Request, "/apis: %s", first)
			} else {
				f.saw(2, e.Discovery.Request, "/apis: %s", e.discovery().Failed[groupVersion])
				f.lack(nil, "it could be discovered in the first sample")
			}
			if e.Second != nil && e.Second.Discovery != nil {
				f.unread(e.Second.Discovery.Refused, "/apis could not be read in the second sample")
			}
			if id == "C03" {
				f.isStale(e, groupVersion, service)
			} else {
				f.isUnavailable(e, groupVersion, service)
			}
			findings = append(findings, f)
		}
		return findings
	}
}

// saysUndiscovered reports whether the condition DiscoveryFailure names a group version.
func (e *Evidence) saysUndiscovered(groupVersion string) bool {
	named := regexp.MustCompile(`(?:^|[ ,])` + regexp.QuoteMeta(groupVersion) + `: `)
	return named.MatchString(e.condition(api.NamespaceDeletionDiscoveryFailure))
}

// noServer are the reasons of an APIService whose Service has no ready endpoint.
var noServer = []string{"ServiceNotFound", "EndpointsNotFound", "MissingEndpoints"}

// isUnavailable completes a finding about a group version whose server does not answer.
func (f *Finding) isUnavailable(e *Evidence, groupVersion string, service *APIService) {
	f.Says = groupVersion + " cannot be discovered, so the controller may not call " + e.Name + " empty"
	if service.Service.Namespace == e.Name {
		f.Says = fmt.Sprintf("%s cannot be discovered: its server is behind a Service of %s itself, which is deleted",
			groupVersion, e.Name)
	}
	f.saw(1, e.APIServices.Request, "APIService %s: Available=%s %s; Service %s", service.Name, service.Available,
		service.Reason, *service.Service)
	f.doubt(service.Available == "", "APIService %s has no condition Available yet", service.Name)
	if b := e.backend(*service.Service); b != nil && b.Failed != nil {
		f.lack(b.Failed, "whether pods of Service %s may be starting could not be read", service.Service)
	} else if b != nil {
		f.lackStart(e, b)
		isBack := slices.Contains(noServer, service.Reason) || e.now().Sub(b.Changed) < readAgainWithin
		f.doubt(b.Ready > 0 && isBack, "Service %s has %s by now: discovery may follow",
			service.Service, words.Count(b.Ready, "ready endpoint"))
	}
	f.Remedies = append(f.Remedies, Remedy{
		Command: e.kubectl("", "delete apiservice %s", service.Name),
		Loses: groupVersion + " in the whole cluster until its add-on is installed again, and strands what its " +
			"server stores",
	})
}

// readAgainWithin is how long kube-apiserver may take to read what a server serves again, after
// that has come back: kube-aggregator does so once a minute.
const readAgainWithin = 75 * time.Second

// isStale completes a finding about a group version of which kube-apiserver has an old copy. It may
// have no APIService any more, as milo-os/milo#662 reports.
func (f *Finding) isStale(e *Evidence, groupVersion string, service *APIService) {
	if service == nil {
		f.Says = fmt.Sprintf("discovery has %s, which is stale and has no APIService: it blocks the deletion of "+
			"every namespace", groupVersion)
		f.saw(1, e.APIServices.Request, "no APIService has %s", groupVersion)
		return
	}
	f.Says = fmt.Sprintf("the server's discovery of %s is stale although its APIService is Available", groupVersion)
	f.saw(1, e.APIServices.Request, "APIService %s: Available=True %s", service.Name, service.Reason)
	f.doubt(e.now().Sub(service.Since) < readAgainWithin,
		"it is Available since %s, and the aggregator reads each group again once a minute", clock(service.Since))
	switch again := e.rediscovery(); {
	case again == nil:
	case !again.isStale(groupVersion):
		f.lack(nil, "in the second sample /apis says something else of it: %s", again.Failed[groupVersion])
	case e.Discovery.isStale(groupVersion):
		f.saw(2, e.Discovery.Request, "/apis: still stale")
	}
}

func notDeleted(e *Evidence) []Finding {
	n := e.Latest()
	var findings []Finding
	for i := range e.Types {
		t := &e.Types[i]
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
