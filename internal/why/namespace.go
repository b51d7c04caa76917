package why

import (
	"fmt"
	"slices"
	"strings"

	"orrery/internal/words"
	"orrery/restclient/api"
)

// collectorsOwn are the finalizers of the garbage collector.
var collectorsOwn = []string{"foregroundDeletion", "orphan"}

// emptiness adds to a finding that acts on an empty namespace whether this one is empty.
func (e *Evidence) emptiness(f *Finding) {
	objects, unread := e.left()
	switch {
	case e.vouched():
		f.saw(1, e.Namespace.Request,
			"the token kubernetes is gone from spec.finalizers: the content is not waited for any more")
	case objects > 0:
		f.Certainty = Later
		f.saw(1, "", "content is left, which must go first: %s", words.Count(objects, "object"))
	case len(unread) > 0:
		f.lack(nil, "the namespace may hold more: %s could not be read", types(unread))
	default:
		f.saw(1, e.Discovery.Request, "all %d types were read, and are empty", len(e.Types))
	}
}

// giveTime makes a finding about an entry of the namespace possible only while its owner has had
// little time since the deletion, or since the content went, after which it may begin. Before the
// first passes every finding is possible only.
func (e *Evidence) giveTime(f *Finding) {
	went := func(c api.NamespaceCondition) bool {
		return c.Status == api.ConditionFalse && slices.Contains(ConditionTypes[3:], c.Type) &&
			e.now().Sub(c.LastTransitionTime.Time) < backOffCap
	}
	recent := e.age() >= firstPasses && e.age() < backOffCap || e.Second != nil && e.released() != "" ||
		slices.ContainsFunc(e.Latest().Conditions, went)
	f.doubt(recent, "it was deleted, or its content went, less than %s ago: the owner may still be at work",
		words.Duration(backOffCap))
}

func metadataFinalizers(e *Evidence) []Finding {
	n := e.Latest()
	var findings []Finding
	for _, h := range e.HeldNamespace() {
		if !slices.Contains(n.Finalizers, h.Finalizer) {
			continue // it was removed between the samples
		}
		f := Finding{Culprit: Reference{Resource: "namespaces", Name: e.Name}}
		f.Says = fmt.Sprintf("metadata.finalizers of the namespace has %s, which its owner does not remove",
			h.Finalizer)
		f.saw(1, n.Request, "metadata.finalizers has %s", h.Finalizer)
		e.emptiness(&f)
		e.giveTime(&f)
		seen := Finding{}
		switch owner := e.lookForOwner(&seen, h); {
		case owner == Ready, e.runningWriter(h):
			f.Owner = seen.Owner
			f.Proof = append(f.Proof, seen.Proof...)
			f.lack(nil, "its owner seems to be at work")
		case f.Certainty == "" && len(f.Missing) == 0:
			f.offerRelease(e, h, ifOwnerStaysAway, false)
		}
		findings = append(findings, f)
	}
	return findings
}

func collectorFinalizers(e *Evidence) []Finding {
	n := e.Latest()
	var findings []Finding
	for _, finalizer := range n.Finalizers {
		if !slices.Contains(collectorsOwn, finalizer) {
			continue
		}
		f := Finding{}
		f.saw(1, n.Request, "metadata.finalizers has %s", finalizer)
		e.emptiness(&f)
		off := controllerOff(e, &f, collectorController)
		if !off && e.age() < backOffCap {
			continue // the collector has had no time
		}
		f.Says = fmt.Sprintf("the garbage collector does not remove %s from the namespace's metadata", finalizer)
		f.doubt(!off, "whether the garbage collector works, or which dependent blocks, was not seen")
		if f.Culprit == (Reference{}) {
			f.Culprit = Reference{Resource: "namespaces", Name: e.Name}
		}
		findings = append(findings, f)
	}
	return findings
}

// tokenOwners are the known owners of tokens in spec.finalizers.
var tokenOwners = map[string]string{"openshift.io/origin": "OpenShift's project controller"}

func foreignTokens(e *Evidence) []Finding {
	n := e.Latest()
	var findings []Finding
	for _, token := range n.SpecFinalizers {
		if token == api.FinalizerKubernetes {
			continue
		}
		f := Finding{Culprit: Reference{Resource: "namespaces", Name: e.Name}}
		f.Says = fmt.Sprintf("spec.finalizers has the token %s, which its owner has not removed", token)
		f.saw(1, n.Request, "spec.finalizers: %s", strings.Join(n.SpecFinalizers, ", "))
		e.emptiness(&f)
		e.giveTime(&f)
		f.doubt(tokenOwners[token] != "", "whether %s runs was not looked for", tokenOwners[token])
		f.Remedies = append(f.Remedies, Remedy{
			Command: e.kubectl("", "get namespace %s -o json | jq %s | kubectl replace --raw "+
				"/api/v1/namespaces/%s/finalize -f -",
				e.Name, fmt.Sprintf(".spec.finalizers -= [%q]", token), e.Name),
			Loses: StaysBehind + "what the owner of " + token +
				" has not cleaned up; whether it still does was not checked", ifProven: true,
		})
		findings = append(findings, f)
	}
	return findings
}

// labels are those of the namespace in the last sample.
func (e *Evidence) labels() map[string]string { return e.Latest().Labels }

// Latest is the namespace in the last sample, nil if it is gone or may not be read.
func (e *Evidence) Latest() *Namespace {
	if e.Second != nil {
		return e.Second.Namespace
	}
	return e.Namespace
}
