package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The verdicts on the owner of a finalizer.
const (
	// ownerSlow: it shows a sign of life and may still finish.
	ownerSlow = "slow"
	// ownerGone: it is known, nothing changed between the samples, and no sign of life was found.
	ownerGone = "gone"
	// ownerUnknown: everything else. Age proves nothing.
	ownerUnknown = "unknown"
)

// Held is a finalizer on objects of one type, which are terminating, or are going to be deleted
// after the pods.
type Held struct {
	Type      *Type
	Finalizer string
	// Object is the first of them.
	Object Object
}

// Held returns the finalizers that keep objects, each once for each type, in the order of the
// types.
func (e *Evidence) Held() []Held {
	return e.held(func(_ *Type, o Object) bool { return !o.Deleted.IsZero() })
}

// Awaiting returns the finalizers of objects that are not terminating yet, because pods remain,
// which go first.
func (e *Evidence) Awaiting() []Held {
	if e.Namespace == nil || e.Namespace.Deleted.IsZero() || e.pods().Count == 0 || e.isBefore(33) {
		return nil
	}
	return e.held(func(t *Type, o Object) bool { return o.Deleted.IsZero() && t.Name() != "pods" })
}

// heldOrAwaiting returns both, those that keep objects first.
func (e *Evidence) heldOrAwaiting() []Held { return append(e.Held(), e.Awaiting()...) }

func (e *Evidence) held(isHeld func(*Type, Object) bool) (all []Held) {
	for i := range e.Types {
		t := &e.Types[i]
		for _, object := range t.Objects {
			if !isHeld(t, object) {
				continue
			}
			for _, finalizer := range object.Finalizers {
				if !slices.ContainsFunc(all, func(h Held) bool { return h.Type == t && h.Finalizer == finalizer }) {
					all = append(all, Held{t, finalizer, object})
				}
			}
		}
	}
	return all
}

// namespaceType is the type of namespaces themselves.
var namespaceType = &Type{Version: "v1", Resource: "namespaces"}

// ByRights reports whether the rights to update the type are read to find the finalizer's owner:
// not for a controller that is built in.
func (h Held) ByRights() bool {
	keeper, _ := h.Keeper()
	return keeper.Controller == ""
}

// HeldNamespace returns the finalizers in the metadata of the namespace that are not the garbage
// collector's.
func (e *Evidence) HeldNamespace() (all []Held) {
	n := e.Namespace
	if n == nil || n.Deleted.IsZero() {
		return nil
	}
	object := Object{Name: e.Name, UID: n.UID, ResourceVersion: n.ResourceVersion, Deleted: n.Deleted, Finalizers: n.Finalizers}
	for _, finalizer := range n.Finalizers {
		if !slices.Contains(collectorsOwn, finalizer) {
			all = append(all, Held{namespaceType, finalizer, object})
		}
	}
	return all
}

// ownerOf returns the name of a finalizer's owner and the words by which its workloads are
// recognized; "" if it is unknown.
func (e *Evidence) ownerOf(h Held) (name string, programs []string) {
	if keeper, ok := h.Keeper(); ok {
		return keeper.Name, keeper.Programs
	}
	for _, stamp := range e.Stamps {
		if programs = stamp.programs(); stamp.isOf(h) && len(programs) > 0 {
			return programs[0], programs
		}
	}
	return "", nil
}

// namesOf returns all names of a finalizer's owner.
func (e *Evidence) namesOf(h Held) []string {
	name, programs := e.ownerOf(h)
	return slices.Concat(programs, []string{name})
}

// isOf reports whether the stamp is about a held finalizer.
func (s Stamp) isOf(h Held) bool { return s.Type == h.Type.Name() && s.Finalizer == h.Finalizer }

// programs returns the writers of the finalizer that may own it, the last one first.
func (s Stamp) programs() (names []string) {
	for _, w := range lastWrites(s.Writers, nil) {
		if w.Manager != "" && !isCreator(w.Manager) && !isGeneric(w.Manager) {
			names = append(names, w.Manager)
		}
	}
	return names
}

// WorkloadsOf returns the workloads that may be the owner of a finalizer.
func (e *Evidence) WorkloadsOf(h Held) []Workload {
	return slices.DeleteFunc(slices.Clone(e.Workloads.Items), func(w Workload) bool { return !e.MayOwn(w, h) })
}

// MayOwn reports whether a workload may be the owner of a finalizer, by its name, or that of a
// container, an image or a command.
func (e *Evidence) MayOwn(w Workload, h Held) bool {
	_, programs := e.ownerOf(h)
	return slices.ContainsFunc(programs, w.isCalled)
}

// NamedWorkloads returns the workloads that have the owner's name as a word. What has only its
// letters may be another program.
func (e *Evidence) NamedWorkloads(h Held) []Workload {
	_, programs := e.ownerOf(h)
	return slices.DeleteFunc(e.WorkloadsOf(h), func(w Workload) bool { return !slices.ContainsFunc(programs, w.hasWord) })
}

// standstill begins the proof that an object has not changed.
const standstill = "standstill"

// judgeOwner decides whether the owner of a finalizer is slow, gone or unknown, and adds what shows
// that to the finding.
func (e *Evidence) judgeOwner(f *Finding, h Held) string {
	name, programs := e.ownerOf(h)
	keeper, listed := h.Keeper()
	verdict := e.signs(f, h, name, programs, keeper, listed)
	if name != "" {
		f.Owner = &Party{Name: name, Verdict: verdict}
	}
	return verdict
}

// signs looks for four signs of life of the owner, one after the other. The first is a change of
// the object.
func (e *Evidence) signs(f *Finding, h Held, name string, programs []string, keeper Keeper, listed bool) string {
	still, known := e.standstill(h.Type, h.Object)
	if !known {
		f.lack(nil, "%s, which does not show whether the owner acts", e.seenOnce())
		return ownerUnknown
	}
	if changed := e.changedOf(h); !still || changed != "" {
		f.saw(2, h.Type.Request, "%s/%s has changed", h.Type.Name(), orElse(changed, h.Object.Name))
		return ownerSlow // it acts
	}
	f.saw(2, h.Type.Request, standstill+": resourceVersion and finalizers are the same in both samples")
	switch {
	case name == "" && !slices.ContainsFunc(e.Stamps, func(s Stamp) bool { return s.isOf(h) }):
		f.lack(nil, "the owner of %s was not looked for%s", h.Finalizer, h.foreign())
		return ownerUnknown
	case name == "":
		f.lack(nil, "the owner of %s is unknown%s", h.Finalizer, h.foreign())
		return ownerUnknown
	case keeper.Outside:
		f.lack(nil, "%s runs outside the cluster", name)
		return ownerUnknown
	case keeper.Controller != "":
		return e.builtIn(f, keeper.Controller)
	}
	verdict := ownerGone
	if h.Finalizer == balancerCleanup && (e.Server == "" || e.isBefore(31)) {
		f.lack(nil, "kube-controller-manager %s may have a cloud provider built in, which removes load balancers: see its --cloud-provider", e.Server)
		verdict = ownerUnknown
	}
	for _, sign := range []func() string{
		func() string { return e.runs(f, h, name) },
		func() string { return e.leads(f, h, name, programs) },
		func() string { return e.may(f, h, name, programs) },
	} {
		switch sign() {
		case ownerSlow:
			return ownerSlow
		case ownerUnknown:
			verdict = ownerUnknown
		}
	}
	if !listed {
		f.lack(nil, "no table has the owner of %s: %s set it, and another program may remove it", h.Finalizer, strings.Join(programs, " and "))
		return ownerUnknown
	}
	if keeper.Many {
		f.lack(nil, "several programs are called %s: which of them removes %s is not known", name, h.Finalizer)
		return ownerUnknown
	}
	if !e.leftTraces(h, programs) {
		inside := ""
		if h.Type.IsCustom() {
			inside = fmt.Sprintf("have run in %s, whose Roles are gone, ", e.Name)
		}
		f.lack(nil, "nothing in the cluster shows that %s is gone for good: it may be uninstalled, %sor run elsewhere or under another name", name, inside)
		return ownerUnknown
	}
	return verdict
}

// changedOf returns one of the objects that a finalizer keeps which has changed; "" for none. An
// owner may work on another object than the first.
func (e *Evidence) changedOf(h Held) string {
	for _, o := range h.Type.Objects {
		if !slices.Contains(o.Finalizers, h.Finalizer) {
			continue
		}
		if still, known := e.standstill(h.Type, o); known && !still {
			return o.Name
		}
	}
	return ""
}

// leftTraces reports whether the cluster shows that an owner ran in it: by a workload with exactly
// its name, or for a custom type by its Lease, or in the namespace by the rights of an account with
// exactly its name. Elsewhere such an account may be that of a controller outside the cluster.
func (e *Evidence) leftTraces(h Held, programs []string) bool {
	if slices.ContainsFunc(e.NamedWorkloads(h), func(w Workload) bool { return e.isOwner(w, h) && !w.hasNoNode() }) {
		return true
	}
	return h.Type.IsCustom() && (e.leftAccount(h) ||
		slices.ContainsFunc(e.AllLeases.Items, func(l Lease) bool { return l.isOf(programs) }))
}

// hasNoNode reports whether it is a DaemonSet that is to run on no node: another program may have
// replaced it.
func (w Workload) hasNoNode() bool { return w.Kind == "daemonset" && w.Replicas == 0 }

// builtIn judges a controller of kube-controller-manager.
func (e *Evidence) builtIn(f *Finding, controller string) string {
	culprit := f.Culprit
	off := controllerOff(e, f, controller)
	f.Culprit = culprit
	switch {
	case off:
		return ownerGone
	case slices.ContainsFunc(e.Managers.Items, func(m Manager) bool { return m.Ready }),
		slices.ContainsFunc(e.Leases.Items, func(l Lease) bool { return l.Name == managerName && !l.Expired(e.At) }):
		return ownerSlow
	}
	f.lack(cmp.Or(e.Managers.Failed, e.Leases.Failed), "whether %s runs could not be seen", controller)
	return ownerUnknown
}

// runs looks for the second sign of life: a ready workload. One with another name than the owner
// decides nothing: it may be another part of the owner, or a program whose name has its letters.
func (e *Evidence) runs(f *Finding, h Held, name string) string {
	if !e.Workloads.Known() {
		f.lack(e.Workloads.Failed, "the workloads could not be read")
		return ownerUnknown
	}
	workloads := e.WorkloadsOf(h)
	keeper, listed := h.Keeper()
	stopped := slices.ContainsFunc(workloads, func(w Workload) bool { return w.Ready == 0 && w.Name == name })
	var other, coming *Workload
	for i, w := range workloads {
		switch {
		case listed && stopped && w.Name != name && e.Grants.Known() && !w.Kubeconfig && !e.accountMay(w.Account(), h.Type) && !e.isNamedLike(w, h):
			// another part of the owner, which could not remove the finalizer
		case w.Ready > 0 && !w.Unready && e.isNamedLike(w, h) && !e.isStranger(w, h) && !e.isOutside(w) && !keeper.Many && (!stopped || w.Name == name):
			if lease := e.lostLease(h, w); lease != nil {
				f.lack(nil, "%s %s/%s: %d of %d ready, but its Lease %s/%s was last renewed %s ago: it may hang, or have no leader",
					w.Kind, w.Namespace, w.Name, w.Ready, w.Replicas, lease.Namespace, lease.Name, duration(e.At.Sub(lease.Renewed)))
				return ownerUnknown
			}
			f.saw(1, e.Workloads.Request, "%s %s/%s: %d of %d ready", w.Kind, w.Namespace, w.Name, w.Ready, w.Replicas)
			return ownerSlow
		case w.Ready > 0 && other == nil:
			other = &workloads[i]
		case e.MayStart(w) && coming == nil:
			coming = &workloads[i]
		}
	}
	if len(workloads) == 0 {
		f.saw(1, e.Workloads.Request, "no workload is called like %s", name)
	}
	down := slices.DeleteFunc(slices.Clone(workloads), func(w Workload) bool { return w.Ready > 0 || w.Kind == CronKind })
	for _, w := range down[:min(len(down), 3)] {
		f.saw(1, e.Workloads.Request, "%s %s/%s: 0 of %d ready", w.Kind, w.Namespace, w.Name, w.Replicas)
	}
	if at := slices.IndexFunc(down, func(w Workload) bool { return w.Replicas == 0 && !w.Since.Before(e.At.Truncate(time.Second)) }); at >= 0 {
		f.lack(nil, "%s %s/%s was written since the first sample, and may have been stopped then", down[at].Kind, down[at].Namespace, down[at].Name)
		return ownerUnknown
	}
	switch {
	case other != nil:
		f.lack(nil, "%s %s/%s runs, and may be %s or a part of it", other.Kind, other.Namespace, other.Name, name)
	case coming == nil:
		return ownerGone
	case coming.Kind == CronKind:
		f.lack(nil, "cronjob %s/%s runs by its schedule, and may be %s", coming.Namespace, coming.Name, name)
	default:
		f.lack(nil, "%s %s/%s has been without a ready pod since %s: it may be starting", coming.Kind, coming.Namespace, coming.Name, clock(coming.Since))
	}
	return ownerUnknown
}

// isStranger reports whether a workload that only ends with an owner's name has no right to the
// type: many programs are called something-controller.
func (e *Evidence) isStranger(w Workload, h Held) bool {
	return !e.isOwner(w, h) && !slices.ContainsFunc(w.Words, func(word string) bool { return slices.Contains(e.namesOf(h), word) }) &&
		e.Grants.Known() && !w.Kubeconfig && !e.accountMay(w.Account(), h.Type)
}

// isOutside reports whether a workload is limited to other namespaces.
func (e *Evidence) isOutside(w Workload) bool {
	return len(w.Only) > 0 && !slices.ContainsFunc(w.Only, func(pattern string) bool { return pattern != "?" && matches(pattern, e.Name) })
}

// isNamedLike reports whether a workload itself, or a program in it, is called like an owner,
// perhaps with the name of a Helm release before. Another part of the owner may have its image. A
// pod is called like the workload that it belongs to.
func (e *Evidence) isNamedLike(w Workload, h Held) bool {
	called, bare := w.Name, w.Kind == PodKind
	for _, of := range e.Workloads.Items {
		if w.Kind == PodKind && of.Kind != PodKind && of.Namespace == w.Namespace && strings.HasPrefix(w.Name, of.Name+"-") && (bare || len(of.Name) > len(called)) {
			called, bare = of.Name, false
		}
	}
	return slices.ContainsFunc(e.namesOf(h), func(name string) bool {
		return called == name || strings.HasSuffix(called, "-"+name) || bare && strings.HasPrefix(called, name+"-") ||
			slices.Contains(w.Words, name) && !slices.Contains(w.Images, name)
	})
}

// lostLease returns a Lease of an owner, in the namespace of its running workload or that of
// Kubernetes, if the owner has only Leases that nobody renews; nil otherwise.
func (e *Evidence) lostLease(h Held, w Workload) *Lease {
	var lost *Lease
	for i, lease := range e.AllLeases.Items {
		switch {
		case !lease.isOf(e.namesOf(h)):
		case e.At.Sub(lease.Renewed) < startsWithin:
			return nil
		case lost == nil && (lease.Namespace == w.Namespace || lease.Namespace == managerNamespace):
			lost = &e.AllLeases.Items[i]
		}
	}
	return lost
}

// startsWithin is how long a program may take to start: as long as Kubernetes waits for a
// Deployment by default (progressDeadlineSeconds). One that is late is not at work.
const startsWithin = 10 * time.Minute

// MayStart reports whether a workload without a ready pod is about to have one.
func (e *Evidence) MayStart(w Workload) bool {
	return w.Ready == 0 && w.Replicas > 0 && (w.Kind == CronKind || e.At.Sub(w.Since) < startsWithin)
}

// leads looks for the third sign of life: a renewed Lease. One that was renewed a short time ago
// belongs to a program that may be starting again, if it was not scaled down. One with another name
// in one of the owner's namespaces may be the owner's, whose process may run elsewhere.
func (e *Evidence) leads(f *Finding, h Held, name string, programs []string) string {
	keeper, _ := h.Keeper()
	if !e.AllLeases.Known() {
		f.lack(e.AllLeases.Failed, "the Leases could not be read")
		return ownerUnknown
	}
	stopped, verdict := e.stoppedOwner(h), ownerGone
	scaledDown := stopped != nil && stopped.Replicas == 0
	homes := e.homesOf(h, stopped)
	for _, lease := range e.AllLeases.Items {
		switch {
		case !lease.isOf(programs):
			if slices.Contains(homes, lease.Namespace) && !lease.Expired(e.At) {
				f.lack(nil, "Lease %s/%s is renewed, and may be that of %s", lease.Namespace, lease.Name, name)
				verdict = ownerUnknown
			}
		case !lease.Expired(e.At) && (stopped == nil || stopped.Name != name) && !keeper.Many:
			f.saw(1, e.AllLeases.Request, "Lease %s/%s is renewed", lease.Namespace, lease.Name)
			return ownerSlow
		case !lease.Expired(e.At):
			f.lack(nil, "Lease %s/%s is renewed, and may be that of %s or of a part of it", lease.Namespace, lease.Name, name)
			verdict = ownerUnknown
		case !scaledDown && e.At.Sub(lease.Renewed) < startsWithin:
			f.lack(nil, "Lease %s/%s was renewed %s ago: its holder may be starting again", lease.Namespace, lease.Name, duration(e.At.Sub(lease.Renewed)))
			verdict = ownerUnknown
		default:
			f.saw(1, e.AllLeases.Request, "Lease %s/%s: last renewed %s ago", lease.Namespace, lease.Name, duration(e.At.Sub(lease.Renewed)))
		}
	}
	return verdict
}

// lackOwner adds to a finding that rests on a finalizer why its owner is not known to be gone: it
// may still finish.
func (f *Finding) lackOwner(e *Evidence, h Held) {
	owner, _ := e.ownerOf(h)
	seen := Finding{}
	if e.judgeOwner(&seen, h) == ownerSlow {
		f.lack(nil, "%s seems to be at work", owner)
	}
	f.Missing, f.lacks = append(f.Missing, seen.Missing...), append(f.lacks, seen.lacks...)
}

// names reports whether a finding is about what a finalizer keeps.
func (f Finding) names(h Held) bool {
	return (f.finalizer == "" || f.finalizer == h.Finalizer) && (f.Culprit.Resource == h.Type.Name() ||
		slices.ContainsFunc(f.Blocks, func(b Blocked) bool { return b.Resource == h.Type.Name() }))
}

// waitingFor describes the objects whose owners show signs of life, and which no finding names; ""
// for none.
func (e *Evidence) waitingFor(findings []Finding) string {
	for _, h := range e.Held() {
		if slices.ContainsFunc(findings, func(f Finding) bool { return f.names(h) }) {
			continue
		}
		var f Finding
		if name, _ := e.ownerOf(h); name != "" && e.judgeOwner(&f, h) == ownerSlow {
			sign := ""
			if last := len(f.Proof) - 1; last >= 0 && !strings.HasPrefix(f.Proof[last].Says, standstill) {
				sign = " (" + f.Proof[last].Says + ")"
			}
			return fmt.Sprintf("%s for %s, which seems to be at work%s, to remove %s", waiting(h.Type.Finalizers[h.Finalizer], h.Type.Name()), name, sign, h.Finalizer)
		}
	}
	return ""
}
