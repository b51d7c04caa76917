package why

import (
	"cmp"
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
		f.Says = fmt.Sprintf("metadata.finalizers of the namespace still has %s", h.Finalizer)
		f.saw(1, n.Request, "metadata.finalizers has %s", h.Finalizer)
		e.emptiness(&f)
		e.giveTime(&f)
		seen := Finding{}
		if e.lookForOwner(&seen, h) == Ready {
			f.Owner = seen.Owner
			f.Proof = append(f.Proof, seen.Proof...)
			f.lack(nil, "its owner seems to be at work")
		} else if f.Certainty == "" && len(f.Missing) == 0 {
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
		if off == nil && e.age() < backOffCap {
			continue // the collector has had no time
		}
		f.Says = fmt.Sprintf("the garbage collector does not remove %s from the namespace's metadata", finalizer)
		f.doubt(off == nil, "whether the garbage collector works, or which dependent blocks, was not seen")
		f.Culprit = *cmp.Or(off, &Reference{Resource: "namespaces", Name: e.Name})
		findings = append(findings, f)
	}
	return findings
}

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

const definitionCleanup = "customresourcecleanup.apiextensions.k8s.io"

func definitionGoes(e *Evidence) []Finding {
	var findings []Finding
	for _, d := range e.Definitions.Items {
		resource, group, _ := strings.Cut(d.Type, ".")
		t := e.typeOf(group, resource)
		if t == nil || t.Count == 0 || d.Deleted.IsZero() || !slices.Contains(d.Finalizers, definitionCleanup) ||
			e.drains(t) {
			continue
		}
		f := Finding{Culprit: Reference{Resource: "customresourcedefinitions", Name: d.Name}, Blocks: t.all()}
		f.Says = fmt.Sprintf("the CustomResourceDefinition of %s is terminating, with %s left", t.Name(),
			words.Count(t.Count, "object"))
		f.saw(1, e.Definitions.Request, "CustomResourceDefinition %s: terminating since %s, has %s", d.Name,
			clock(d.Deleted), definitionCleanup)
		f.saw(1, t.Request, "%s left", t.objects(t.Count))
		held := slices.DeleteFunc(e.Held(), func(h Held) bool { return h.Type != t })
		f.doubt(len(held) == 0, "no finalizer was seen on them: they may go by themselves")
		for _, h := range held {
			f.saw(1, t.Request, "%s/%s has %s", t.Name(), h.Object.Name, h.Finalizer)
			f.lackOwner(e, h)
			describe := e.kubectl(e.Name, "describe %s %s", t.Name(), h.Object.Name)
			f.Remedies = append(f.Remedies, Remedy{Command: describe})
		}
		findings = append(findings, f)
	}
	return findings
}

// blocker returns the first object of the namespace that blocks the deletion of its owner, and its
// type; nil for none.
func (e *Evidence) blocker(uid string) (*Type, *Object) {
	for i := range e.Types {
		if o := find(e.Types[i].Objects, func(o Object) bool { return o.Blocks(uid) }); o != nil {
			return &e.Types[i], o
		}
	}
	return nil, nil
}

// Blocks reports whether an object blocks the deletion of the owner with that UID.
func (o Object) Blocks(uid string) bool {
	return slices.ContainsFunc(o.Owners, func(owner api.OwnerReference) bool {
		return owner.UID == uid && owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion
	})
}

// waitsBelow reports whether an owner of the object waits in the foreground for it.
func (e *Evidence) waitsBelow(o Object) bool {
	return slices.ContainsFunc(e.Held(),
		func(h Held) bool { return h.Finalizer == "foregroundDeletion" && o.Blocks(h.Object.UID) })
}

func dependents(e *Evidence) []Finding {
	var findings []Finding
	for _, h := range e.Held() {
		if h.Finalizer != "foregroundDeletion" {
			continue
		}
		if e.waitsBelow(h.Object) {
			continue // the finding about its owner covers it
		}
		t, leaf := h.Type, h.Object
		seen := []string{leaf.UID}
		f := Finding{Blocks: h.Type.blocks(1, h.Object)}
		f.saw(1, h.Type.Request, "%s/%s has foregroundDeletion", h.Type.Name(), h.Object.Name)
		for {
			of, next := e.blocker(leaf.UID)
			if next == nil || slices.Contains(seen, next.UID) {
				break // the last one, or a cycle
			}
			f.saw(1, of.Request, "%s/%s has %s/%s as its owner, with blockOwnerDeletion",
				of.Name(), next.Name, t.Name(), leaf.Name)
			t, leaf = of, *next
			seen = append(seen, leaf.UID)
		}
		isCollectors := func(finalizer string) bool { return slices.Contains(collectorsOwn, finalizer) }
		own := slices.DeleteFunc(slices.Clone(leaf.Finalizers), isCollectors)
		if len(seen) == 1 || len(own) == 0 || leaf.Deleted.After(e.now()) {
			continue // it may end by itself: a pod's deletionTimestamp is the end of its grace period
		}
		f.Culprit = Reference{Resource: t.Name(), Namespace: e.Name, Name: leaf.Name}
		f.Says = fmt.Sprintf("%s/%s waits for its dependent %s/%s", h.Type.Name(), h.Object.Name, t.Name(), leaf.Name)
		f.saw(1, t.Request, "%s/%s has %s", t.Name(), leaf.Name, listed(own))
		for _, finalizer := range own {
			f.lackOwner(e, Held{t, finalizer, leaf})
		}
		f.doubt(leaf.Deleted.IsZero(),
			"%s/%s is not terminating: the garbage collector has not deleted it", t.Name(), leaf.Name)
		if e.moved(t, leaf) || e.moved(h.Type, h.Object) {
			continue
		}
		findings = append(findings, f)
	}
	return findings
}

// drains reports whether the second sample has fewer objects of a type.
func (e *Evidence) drains(t *Type) bool {
	second := e.Second.typeOf(t)
	return second != nil && t.shrankTo(*second)
}

// wentSince reports whether the second sample has no object of a type.
func (e *Evidence) wentSince(t *Type) bool {
	second := e.Second.typeOf(t)
	return second != nil && second.Failed == nil && second.Count == 0 && !second.More
}

// shrankTo reports whether a later list of the type has fewer objects. One that failed or was cut
// shows nothing.
func (t *Type) shrankTo(second Type) bool {
	return second.Failed == nil && !second.More && second.Count < t.Count && !t.isRestless()
}

// isRestless reports whether objects of the type are written, or go by themselves, all the time.
func (t *Type) isRestless() bool {
	return slices.Contains([]string{"events", "events.events.k8s.io", "leases.coordination.k8s.io"}, t.Name())
}

func shrinks(e *Evidence) []Finding {
	if e.Second == nil {
		return nil
	}
	var findings []Finding
	for _, second := range e.Second.Types {
		first := e.typeOf(second.Group, second.Resource)
		if first == nil || second.Count == 0 || !first.shrankTo(second) {
			continue
		}
		gone, took := first.Count-second.Count, e.Second.At.Sub(e.At)
		f := Finding{Culprit: Reference{Resource: first.Name(), Namespace: e.Name, Name: "*"}, Blocks: first.all()}
		f.Says = fmt.Sprintf("%s went within %s, with %s left", first.objects(gone), words.Duration(took),
			words.Count(second.Count, "object"))
		f.saw(1, first.Request, "%s", first.objects(first.Count))
		f.saw(2, second.Request, "%s left", words.Count(second.Count, "object"))
		f.doubt(e.condition(api.NamespaceDeletionContentFailure) != "",
			"ContentFailure says that requests are refused: what they are for may stay")
		findings = append(findings, f)
	}
	return findings
}

// ofEveryNamespace are the objects that kube-controller-manager creates in every namespace.
var ofEveryNamespace = []string{"configmaps/kube-root-ca.crt", "serviceaccounts/default"}

func grows(e *Evidence) []Finding {
	after := e.Namespace.Deleted.Add(gracePeriod)
	var findings []Finding
	for i := range e.Types {
		t := &e.Types[i]
		// What kube-controller-manager creates again, each pass deletes: it keeps no namespace.
		young := find(t.Objects, func(o Object) bool {
			return o.Created.After(after) && !slices.Contains(ofEveryNamespace, t.Name()+"/"+o.Name)
		})
		if young == nil || t.isRestless() {
			continue
		}
		f := Finding{Culprit: Reference{Resource: t.Name(), Namespace: e.Name, Name: "*"}, Blocks: t.all()}
		f.Says = fmt.Sprintf("something creates %s although %s is terminating", t.Name(), e.Name)
		f.saw(1, t.Request, "%s/%s was created %s after the deletion",
			t.Name(), young.Name, words.Duration(young.Created.Sub(e.Namespace.Deleted)))
		switch {
		case e.Second == nil:
		case !e.newUIDs(t):
			continue
		default:
			f.saw(2, t.Request, "there are new ones")
		}
		findings = append(findings, f)
	}
	return findings
}

// newUIDs reports whether the second sample has objects of a type that were created after the
// first.
func (e *Evidence) newUIDs(t *Type) bool {
	second := e.Second.typeOf(t)
	return second != nil && slices.ContainsFunc(second.Objects, func(o Object) bool {
		known := slices.ContainsFunc(t.Objects, func(first Object) bool { return first.UID == o.UID })
		return !known && !o.Created.Before(e.At) && !slices.Contains(ofEveryNamespace, t.Name()+"/"+o.Name)
	})
}
