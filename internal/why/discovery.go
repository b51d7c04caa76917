package why

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"orrery/internal/words"
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
