package why

import (
	"fmt"
	"slices"
	"strings"

	"orrery/internal/words"
)

// hasOwnCause reports whether a finding of C13, C14 or C26 is about a finalizer of a built-in
// controller: those causes know more than whether that one runs.
func (e *Evidence) hasOwnCause(h Held) bool {
	causes := map[string]func(*Evidence) []Finding{jobTracking: jobFinalizer, claimProtection: protectedClaim, "foregroundDeletion": dependents}
	keeper, _ := h.Keeper()
	judge, ok := causes[keeper.Pattern]
	return ok && slices.ContainsFunc(judge(e), func(f Finding) bool {
		return f.Culprit.Name == h.Object.Name && f.Culprit.Resource == h.Type.Name() ||
			slices.ContainsFunc(f.Blocks, func(b Blocked) bool {
				return b.Resource == h.Type.Name() && slices.Contains(b.Examples, h.Object.Name)
			})
	})
}

// causeOf returns which of C04, C05, C15 and C24 concerns a finalizer that keeps an object; "" for
// none: another cause knows more, or a pod may still end by itself.
func (e *Evidence) causeOf(h Held) string {
	keeper, _ := h.Keeper()
	isPod := h.Type.Name() == "pods"
	switch {
	case e.hasOwnCause(h), isPod && h.Object.Deleted.After(e.now()),
		h.Finalizer == "foregroundDeletion" && e.waitsBelow(h.Object): // then its owner is named
		return ""
	case isPod && e.podsFirst():
		return "C24"
	case h.Type.Name() == "services" && keeper.Balancer && !e.neverBalanced(h):
		return "C15"
	case e.ranInside(h):
		return "C05"
	}
	return "C04"
}

// ownerless returns what judges one of those causes.
func ownerless(id string) func(e *Evidence) []Finding {
	return func(e *Evidence) (findings []Finding) {
		for _, h := range e.HeldOrAwaiting() {
			if e.causeOf(h) != id {
				continue
			}
			f := heldFinding(e, h)
			owner := e.lookForOwner(&f, h)
			if owner == Ready || h.Object.Deleted.IsZero() && !owner.away() {
				continue // it may finish, or nothing is asked of it yet
			}
			f.adviseOnOwner(e, h, id)
			switch id {
			case "C15":
				f.lackBalancer(e, h)
			case "C24":
				f.Says = fmt.Sprintf("pod %s keeps the finalizer %s, and nothing else is deleted before it", h.Object.Name, h.Finalizer)
				f.saw(1, "", "since the deletion of the namespace nothing but pods was deleted")
			}
			findings = append(findings, f)
		}
		return findings
	}
}

// adviseOnOwner says what a finalizer waits for, and how its owner can remove it.
func (f *Finding) adviseOnOwner(e *Evidence, h Held, id string) {
	keeper, _ := h.Keeper()
	waiting := h.Type.waiting(h.Type.Finalizers[h.Finalizer])
	away := f.Owner != nil && f.Owner.State.away()
	stopped := e.stoppedOwner(h)
	f.Says = fmt.Sprintf("%s for the owner of %s", waiting, h.Finalizer)
	if away {
		f.Says = fmt.Sprintf("%s; %s", f.removes(h, stopped), waiting)
	}
	switch {
	case keeper.Controller != "":
		f.Do = []string{fmt.Sprintf("start kube-controller-manager with its %s", keeper.Controller)}
		if !away {
			f.Do[0] += ", if it does not run"
		}
		return
	case away && id == "C05":
		f.Says = fmt.Sprintf("every account that may update %s is in %s itself, and %s for %s", h.Type.Name(), e.Name,
			waiting, f.Owner.Name)
		f.Do = []string{fmt.Sprintf("run %s in another namespace until the objects are gone", f.Owner.Name)}
		f.saw(1, e.Grants.Request, "every service account that may update %s is in %s", h.Type.Name(), e.Name)
	case stopped != nil:
		stopped.bringBack(e, f)
	case away:
		f.Do = []string{fmt.Sprintf("see whether %s runs elsewhere, such as outside this cluster; if not, "+
			"install it again "+
			"until the objects are gone", f.Owner.Name)}
	case id != "C15":
		f.Do = []string{fmt.Sprintf("find the owner of %s, and let it finish", h.Finalizer)}
	}
	switch {
	case away:
		f.Do = append(f.Do, h.lastResort())
		f.offerRelease(e, h, "", true)
	case f.Owner == nil:
		e.sawTraces(f, h)
		e.offerWithoutOwner(f, h)
	}
}

// removes says which owner, that is away, removes a finalizer, and what was seen of it.
func (f *Finding) removes(h Held, stopped *Workload) string {
	keeper, _ := h.Keeper()
	seen := "nothing of it is in this cluster"
	switch {
	case keeper.Controller != "":
		seen = "it is switched off"
	case f.Owner.State == Stopped && stopped != nil:
		seen = fmt.Sprintf("its %s has no ready pod", stopped)
	case f.Owner.State == Stopped:
		seen = "no workload that is called like it has a ready pod"
	}
	name := f.Owner.Name
	if keeper.Product != "" {
		name += " (" + keeper.Product + ")"
	}
	return fmt.Sprintf("%s removes %s, and %s", name, h.Finalizer, seen)
}

// stoppedOwner returns a workload without a ready pod that has the owner's name, or else one that
// has it as a word; nil for none. What has only another word of the owner, such as "longhorn", is
// another part of it, unless the name is a description.
func (e *Evidence) stoppedOwner(h Held) *Workload {
	name, programs := e.ownerOf(h)
	isProgram := !strings.Contains(name, " ") && slices.ContainsFunc(programs, func(program string) bool { return hasWord(name, program) })
	stopped := slices.DeleteFunc(e.NamedWorkloads(h), func(w Workload) bool {
		return w.Ready > 0 || w.Kind == CronKind && w.Replicas > 0 || isProgram && !hasWord(w.Name, name) && !w.isNamed(name)
	})
	if len(stopped) == 0 {
		return nil
	}
	return &stopped[max(0, slices.IndexFunc(stopped, func(w Workload) bool { return w.isNamed(name) }))]
}

// sawTraces adds to a finding whose owner has no known name what may lead to it: who set the
// finalizer, the Helm release of the type, and the service accounts that may update it.
func (e *Evidence) sawTraces(f *Finding, h Held) {
	for _, stamp := range e.Stamps {
		if stamp.isOf(h) && len(stamp.Writers) > 0 {
			w := lastWrites(stamp.Writers, nil)[0]
			f.saw(1, stamp.Request, "%s set it at %s, by managedFields", w.Manager, clock(w.At))
		}
	}
	if !h.Type.IsCustom() {
		return
	}
	if d := e.definition(h.Type.Name()); d != nil && d.Release.Name != "" {
		f.Do = []string{fmt.Sprintf("see whether Helm release %s runs: the owner of %s is probably a part of "+
			"it", d.Release, h.Finalizer)}
		f.saw(1, e.Definitions.Request, "CustomResourceDefinition %s belongs to Helm release %s", d.Type, d.Release)
	}
	var accounts []string
	for _, g := range e.grantsFor(h.Type) {
		account := fmt.Sprintf("%s (%s)", g.Account(), words.Count(g.Pods, "pod"))
		if g.isAccount() && g.Failed == nil && !slices.Contains(accounts, account) {
			accounts = append(accounts, account)
		}
	}
	if len(accounts) > 0 {
		f.saw(1, e.Grants.Request, "by a rule that names %s, these service accounts may update %s: %s",
			h.Type.Group, h.Type.Name(), listed(accounts))
	}
}

// offerWithoutOwner adds the removal of a finalizer whose owner has no known name, as a last
// resort.
func (e *Evidence) offerWithoutOwner(f *Finding, h Held) {
	still, known := e.standstill(h.Type, h.Object)
	if !still || !known || h.Object.Deleted.IsZero() || e.age() < backOffCap {
		return
	}
	f.Do = append(f.Do, h.lastResort())
	f.offerRelease(e, h, ifOwnerStaysAway, false)
}

// lastResort is advice to remove the finalizer without its owner.
func (h Held) lastResort() string {
	return fmt.Sprintf("⚠ if it does not come back: remove %s from %s/%s; %s",
		h.Finalizer, h.Type.Name(), h.Object.Name, h.loses())
}

// ifOwnerStaysAway is When of the removal of a finalizer whose owner has no known name.
const ifOwnerStaysAway = "only if its owner, which is not known, does not come back"

// bringBack advises in a finding to bring a workload back that has no ready pod, with the command
// for it. No pod starts in a terminating namespace.
func (w Workload) bringBack(e *Evidence, f *Finding) {
	if slices.Contains(e.Terminating, w.Namespace) {
		f.Do = []string{fmt.Sprintf("run %s in another namespace until the objects are gone: %s is terminating, too", w.Name, w.Namespace)}
		return
	}
	do := fmt.Sprintf("find out why %s has no ready pod", w)
	command := kubectl(w.Namespace, "describe %s %s", w.Kind, w.Name)
	if w.Replicas == 0 && (w.Kind == "deployment" || w.Kind == "statefulset") { // kubectl scales no others
		command = kubectl(w.Namespace, "scale %s --replicas=1", w.Kind+"/"+w.Name)
		do = command
	}
	f.Do, f.Remedies = []string{do}, []Remedy{{Command: command}}
}

// heldFinding returns the common part of the findings about a held object.
func heldFinding(e *Evidence, h Held) Finding {
	f := Finding{Culprit: Reference{Resource: h.Type.Name(), Namespace: e.Name, Name: h.Object.Name}, finalizer: h.Finalizer}
	others := func(o Object) bool { return !slices.Contains(o.Finalizers, h.Finalizer) }
	f.Blocks = h.Type.blocks(h.Type.Finalizers[h.Finalizer], slices.DeleteFunc(slices.Clone(h.Type.Objects), others)...)
	if h.Object.Deleted.IsZero() {
		f.Certainty = Later
		f.saw(1, h.Type.Request, "%s/%s has %s, and is not deleted before the pods", h.Type.Name(), h.Object.Name, h.Finalizer)
		return f
	}
	since := "has been terminating since"
	if h.Type.Name() == "pods" { // deletionTimestamp is the end of its grace period
		since = "was to end by"
	}
	f.saw(1, h.Type.Request, "%s/%s %s %s and has %s", h.Type.Name(), h.Object.Name, since, clock(h.Object.Deleted), h.Finalizer)
	return f
}

// ranInside reports whether every service account that may update the type is in the namespace, and
// no workload elsewhere has the owner's name.
func (e *Evidence) ranInside(h Held) bool {
	grants := e.grantsFor(h.Type)
	name, _ := e.ownerOf(h)
	if slices.ContainsFunc(e.NamedWorkloads(h), func(w Workload) bool { return w.Namespace != e.Name && w.isNamed(name) }) {
		return false
	}
	return h.Type.IsCustom() && len(grants) > 0 && !slices.ContainsFunc(grants, func(g Grant) bool { return g.Service.Namespace != e.Name })
}

// withoutRights judges C06: the owner runs, and RBAC refuses its updates. There is no finding if
// the object changes, if a candidate with another account runs, or if the named owner is stopped.
func withoutRights(e *Evidence) []Finding {
	var findings []Finding
	for _, h := range e.HeldOrAwaiting() {
		_, known := e.standstill(h.Type, h.Object)
		if e.changedOf(h) != "" {
			continue
		}
		var refusedOnes, others []Workload
		for _, w := range e.NamedWorkloads(h) {
			switch {
			case w.Namespace == e.Name, w.Ready == 0 && (w.Kind == PodKind || w.Kind == CronKind):
			case w.Ready > 0 && e.isRefused(w, h) && e.isOwner(w, h):
				refusedOnes = append(refusedOnes, w)
			default:
				others = append(others, w)
			}
		}
		if len(refusedOnes) == 0 || slices.ContainsFunc(others, func(w Workload) bool { return w.Ready > 0 && w.Account() != refusedOnes[0].Account() }) {
			continue // no owner is refused, or another one may be at work
		}
		w := refusedOnes[0]
		if name, _ := e.ownerOf(h); w.Name != name && slices.ContainsFunc(others, func(w Workload) bool { return w.Ready == 0 && w.Name == name }) {
			continue // the owner itself is stopped, and this is another part of it
		}
		f := heldFinding(e, h)
		f.Owner = &Party{Name: w.Name, State: Ready}
		f.Says = fmt.Sprintf("%s runs, and may not update %s in %s", w.Name, h.Type.Name(), e.Name)
		f.saw(1, e.Workloads.Request, "%s: %d ready", w, w.Ready)
		update := e.answerTo(h.OwnersRights(w)[0])
		f.saw(1, update.Request, "SubjectAccessReview: %s may neither update nor patch %s in %s",
			w.User(), h.Type.Name(), e.Name)
		f.doubt(!known, "%s", e.seenOnce())
		owner, _ := e.ownerOf(h)
		_, listed := h.Keeper()
		switch named := listed && slices.Contains(e.namesOf(h), w.Name); {
		case !listed:
			f.lack(nil, "%s has set the finalizer, and another program may remove it", owner)
		case !named:
			f.lack(nil, "whether %s is the part of %s that removes the finalizer is not known", w.Name, owner)
		case !e.mayList(w, h):
			f.lack(nil, "%s may not list them either, and may work for other namespaces only", w.Name)
		}
		where := e.mayElsewhere(w.Account(), h.Type)
		f.doubt(where != "", "%s may update them in %s, and may work there only", w.Name, where)
		if !e.Grants.Known() {
			f.lack(e.Grants.Failed, "whether another user may update them could not be read")
		}
		f.doubt(w.Kubeconfig || e.mayImpersonate(w),
			"%s may send its requests under another identity than its service account", w.Name)
		for _, grant := range e.grantsFor(h.Type) {
			if !grant.isAccount() {
				f.lack(nil, "%s may update them, and may be %s", grant.Subject, w.Name)
				break
			}
		}
		if at := slices.IndexFunc(others, func(w Workload) bool { return w.Ready == 0 }); at >= 0 {
			f.lack(nil, "%s, which has no ready pod, may be the owner instead", others[at])
			others[at].bringBack(e, &f)
		}
		give := "give"
		if len(f.Missing) > 0 {
			give = "if it is the owner, give"
		} else {
			f.Remedies = append(f.Remedies, w.grant(e, h)...)
		}
		f.Do = append(f.Do, fmt.Sprintf(give+" service account %s/%s the right to update %s by a ClusterRoleBinding until the objects are gone, and delete it then",
			w.Namespace, w.account(), h.Type.Name()))
		findings = append(findings, f)
	}
	return findings
}

// isOwner reports whether a workload has exactly the name of a finalizer's owner.
func (e *Evidence) isOwner(w Workload, h Held) bool {
	return slices.ContainsFunc(e.namesOf(h), w.isNamed)
}

// grant returns the commands that let the workload finish, and that take the right away again. It
// is one of the whole cluster: nothing can be created in the namespace.
func (w Workload) grant(e *Evidence, h Held) []Remedy {
	name := strings.Join([]string{"orrery-why", e.Name, w.Name, h.Type.Name()}, "-")
	return granted(name, "get,list,watch,update,patch", []string{h.Type.Name()}, "--serviceaccount=%s",
		w.Namespace+":"+w.account())
}

// OwnersRights returns the questions about the right of a workload to remove a finalizer, and to
// work in the namespace at all. The metadata of a built-in type may also be written with its
// status.
func (h Held) OwnersRights(w Workload) (questions []Refusal) {
	ask := func(verb, resource, name string) {
		questions = append(questions, Refusal{User: w.User(), Verb: verb, Group: h.Type.Group, Resource: resource, Name: name})
	}
	ask("update", h.Type.Resource, h.Object.Name)
	ask("patch", h.Type.Resource, h.Object.Name)
	if !h.Type.IsCustom() {
		ask("patch", h.Type.Resource+"/status", h.Object.Name)
	}
	ask("list", h.Type.Resource, "")
	return append(questions, impersonation(w))
}

// impersonation is the question whether a workload may act as a service account of the namespace.
func impersonation(w Workload) Refusal {
	return Refusal{User: w.User(), Verb: "impersonate", Resource: "serviceaccounts"}
}

// mayImpersonate reports whether a workload may act as a service account of the namespace.
func (e *Evidence) mayImpersonate(w Workload) bool {
	return e.allows(impersonation(w))
}

// allows reports whether the answer to a question about a right is yes.
func (e *Evidence) allows(asked Refusal) bool {
	answer := e.answerTo(asked)
	return answer != nil && answer.Allowed
}

// answerTo returns the answer to a question about a right, nil without one. A right to all objects
// is one to each.
func (e *Evidence) answerTo(asked Refusal) *Review {
	all := asked
	all.Name = ""
	return find(e.Reviews, func(r Review) bool { return r.Failed == nil && (r.Refusal == asked || r.Refusal == all) })
}

// isRefused reports whether a workload may not write a held object in any way.
func (e *Evidence) isRefused(w Workload, h Held) bool {
	return !slices.ContainsFunc(h.OwnersRights(w), func(asked Refusal) bool {
		if asked.Verb != "update" && asked.Verb != "patch" {
			return false
		}
		answer := e.answerTo(asked)
		return answer == nil || answer.Allowed
	})
}

// mayList reports whether a workload may list the type: one that may not has perhaps no task in the
// namespace.
func (e *Evidence) mayList(w Workload, h Held) bool {
	return e.allows(Refusal{User: w.User(), Verb: "list", Group: h.Type.Group, Resource: h.Type.Resource})
}

// account is the name of the workload's service account.
func (w Workload) account() string { return orElse(w.ServiceAccount, "default") }

// Account is the service account of the workload.
func (w Workload) Account() Service { return Service{w.Namespace, w.account()} }

// User is the name under which the workload's pods send requests.
func (w Workload) User() string { return "system:serviceaccount:" + w.Namespace + ":" + w.account() }

// stampOf returns what was read of a Service, nil if it was not read.
func (e *Evidence) stampOf(service string) *Stamp {
	return find(e.Stamps, func(s Stamp) bool { return s.Type == "services" && s.Object == service })
}

// neverBalanced reports whether a Service was seen to have no load balancer: what C15 says does not
// hold for it, only its finalizer does.
func (e *Evidence) neverBalanced(h Held) bool {
	stamp := e.stampOf(h.Object.Name)
	return stamp != nil && !stamp.Balancer
}

// lackBalancer completes a finding about the load balancer of a Service.
func (f *Finding) lackBalancer(e *Evidence, h Held) {
	keeper, _ := h.Keeper()
	f.Says = fmt.Sprintf("%s does not remove the load balancer of service %s", keeper.Name, h.Object.Name)
	if stamp := e.stampOf(h.Object.Name); stamp == nil {
		f.lack(nil, "status.loadBalancer of the Service was not read")
	} else {
		f.saw(1, stamp.Request, "status.loadBalancer is set")
	}
}
