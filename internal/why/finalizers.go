package why

import (
	"cmp"
	"fmt"
	"slices"
)

// hasOwnCause reports whether a finding of C13, C14 or C26 is about a finalizer of a built-in
// controller: those causes know more than whether that one runs.
func (e *Evidence) hasOwnCause(h Held) bool {
	causes := map[string]func(*Evidence) []Finding{jobTracking: jobFinalizer, claimProtection: protectedClaim,
		"foregroundDeletion": dependents}
	judge, ok := causes[h.Keeper().Pattern]
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
	isPod := h.Type.Name() == "pods"
	switch {
	case e.hasOwnCause(h), isPod && h.Object.Deleted.After(e.now()),
		(isPod || h.Finalizer == "foregroundDeletion") && e.waitsBelow(h.Object): // then its owner is named
		return ""
	case isPod && e.podsFirst():
		return "C24"
	case h.Type.Name() == "services" && h.Keeper().Balancer:
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
			if id == "C24" {
				f.Says = fmt.Sprintf("pod %s keeps the finalizer %s, and nothing else is deleted before it",
					h.Object.Name, h.Finalizer)
				f.saw(1, "", "since the deletion of the namespace nothing but pods was deleted")
			}
			findings = append(findings, f)
		}
		return findings
	}
}

// adviseOnOwner says what a finalizer waits for, and offers the commands that help.
func (f *Finding) adviseOnOwner(e *Evidence, h Held, id string) {
	keeper := h.Keeper()
	waiting := h.Type.waiting(h.Type.Finalizers[h.Finalizer])
	away := f.Owner != nil && f.Owner.State.away()
	f.Says = fmt.Sprintf("%s for the owner of %s", waiting, h.Finalizer)
	if away {
		f.Says = fmt.Sprintf("%s; %s", f.removes(h), waiting)
	}
	if keeper.Controller != "" {
		return
	}
	if away && id == "C05" {
		f.Says = fmt.Sprintf("every account that may update %s is in %s itself, and %s for %s", h.Type.Name(), e.Name,
			waiting, f.Owner.Name)
		f.saw(1, e.Grants.Request, "every service account that may update %s is in %s", h.Type.Name(), e.Name)
	} else if stopped := e.stoppedOwner(h, keeper.Name); stopped != nil {
		f.bringBack(e, stopped)
	}
	if away {
		f.offerRelease(e, h, "", true)
	}
	if f.Owner == nil {
		f.Remedies = append(f.Remedies, Remedy{Command: e.kubectl(e.Name, "get %s %s -o yaml --show-managed-fields",
			h.Type.Name(), h.Object.Name)})
		still, known := e.standstill(h.Type, h.Object)
		if still && known && !h.Object.Deleted.IsZero() && e.age() >= backOffCap {
			f.offerRelease(e, h, ifOwnerStaysAway, false)
		}
	}
}

// removes says which owner, that is away, removes a finalizer, and what was seen of it.
func (f *Finding) removes(h Held) string {
	seen := "nothing of it is in this cluster"
	switch {
	case h.Keeper().Controller != "":
		seen = "it is switched off"
	case f.Owner.State == Stopped:
		seen = "no workload of it has a ready pod"
	}
	return fmt.Sprintf("%s removes %s, and %s", f.Owner.Name, h.Finalizer, seen)
}

// stoppedOwner returns a workload without a ready pod that has the owner's name, or else one of its
// programs; nil for none.
func (e *Evidence) stoppedOwner(h Held, name string) *Workload {
	stopped := func(w Workload) bool { return w.Ready == 0 && w.Kind != PodKind && h.Owns(w) }
	named := func(w Workload) bool { return w.Name == name && stopped(w) }
	return cmp.Or(find(e.Workloads.Items, named), find(e.Workloads.Items, stopped))
}

// ifOwnerStaysAway is When of the removal of a finalizer whose owner has no known name.
const ifOwnerStaysAway = "only after you have found its owner, and it does not come back"

// bringBack advises to bring a workload back that has no ready pod, or to see why it has none. No
// pod starts in a terminating namespace.
func (f *Finding) bringBack(e *Evidence, w *Workload) {
	switch {
	case w.Namespace == e.Name:
		f.Do = append(f.Do, fmt.Sprintf("run %s in another namespace until the objects are gone: nothing starts in "+
			"%s, which is terminating", w.Name, w.Namespace))
	case w.Replicas == 0 && (w.Kind == "deployment" || w.Kind == "statefulset"): // kubectl scales no others
		f.Remedies = []Remedy{{Command: e.kubectl(w.Namespace, "scale %s --replicas=1", w.Kind+"/"+w.Name)}}
	default:
		f.Remedies = []Remedy{{Command: e.kubectl(w.Namespace, "describe %s %s", w.Kind, w.Name)}}
	}
}

// heldFinding returns the common part of the findings about a held object.
func heldFinding(e *Evidence, h Held) Finding {
	f := Finding{Culprit: Reference{Resource: h.Type.Name(), Namespace: e.Name, Name: h.Object.Name},
		finalizer: h.Finalizer}
	others := func(o Object) bool { return !slices.Contains(o.Finalizers, h.Finalizer) }
	f.Blocks = h.Type.blocks(h.Type.Finalizers[h.Finalizer], slices.DeleteFunc(slices.Clone(h.Type.Objects), others)...)
	if h.Object.Deleted.IsZero() {
		f.Certainty = Later
		f.saw(1, h.Type.Request, "%s/%s has %s, and is not deleted before the pods", h.Type.Name(), h.Object.Name,
			h.Finalizer)
		return f
	}
	since := "has been terminating since"
	if h.Type.Name() == "pods" { // deletionTimestamp is the end of its grace period
		since = "was to end by"
	}
	f.saw(1, h.Type.Request, "%s/%s %s %s and has %s", h.Type.Name(), h.Object.Name, since, clock(h.Object.Deleted),
		h.Finalizer)
	return f
}

// ranInside reports whether every service account that may update the type is in the namespace, and
// no workload elsewhere has the owner's name.
func (e *Evidence) ranInside(h Held) bool {
	grants := filter(e.Grants.Items, func(g Grant) bool { return g.covers(h.Type) })
	outside := func(g Grant) bool { return g.Service.Namespace != e.Name }
	elsewhere := func(w Workload) bool { return w.Namespace != e.Name && h.Owns(w) }
	return h.ByRights() && len(grants) > 0 && !slices.ContainsFunc(grants, outside) &&
		!slices.ContainsFunc(e.Workloads.Items, elsewhere)
}

// covers reports whether the right applies to the type.
func (g Grant) covers(t *Type) bool {
	return g.Group == t.Group && includes(g.Resources, t.Resource, "*")
}

// withoutRights judges C06: the owner runs, and RBAC refuses its updates. There is no finding if
// the object changes, or if another candidate runs. Nothing is proven: a program may send its
// requests under another identity than its service account, or work for other namespaces only.
func withoutRights(e *Evidence) []Finding {
	var findings []Finding
	for _, h := range e.HeldOrAwaiting() {
		keeper := h.Keeper()
		refused := func(w Workload) bool {
			return w.Ready > 0 && w.Namespace != e.Name && h.Owns(w) && e.isRefused(w, h)
		}
		w := find(e.Workloads.Items, refused)
		if !h.ByRights() || w == nil || e.changedOf(h) != "" {
			continue
		}
		another := func(other Workload) bool {
			return other.Ready > 0 && h.MayOwn(other) && other.Account() != w.Account() ||
				other.Ready == 0 && other.Name == keeper.Name
		}
		if slices.ContainsFunc(e.Workloads.Items, another) {
			continue
		}
		f := heldFinding(e, h)
		f.Owner = &Party{Name: w.Name, State: Ready}
		f.Says = fmt.Sprintf("%s runs, and may not update %s in %s", w.Name, h.Type.Name(), e.Name)
		f.saw(1, e.Workloads.Request, "%s: %d ready", w, w.Ready)
		f.saw(1, e.answerTo(h.OwnersRights(*w)[0]).Request,
			"SubjectAccessReview: %s may neither update nor patch %s in %s", w.User(), h.Type.Name(), e.Name)
		f.lack(nil, "whether %s works for %s, and under its service account, was not seen", w.Name, e.Name)
		findings = append(findings, f)
	}
	return findings
}

// OwnersRights returns the questions about the right of a workload to remove a finalizer.
func (h Held) OwnersRights(w Workload) (questions []Refusal) {
	for _, verb := range []string{"update", "patch"} {
		asked := Refusal{User: w.User(), Verb: verb, Group: h.Type.Group, Resource: h.Type.Resource,
			Name: h.Object.Name}
		questions = append(questions, asked)
	}
	return questions
}

// answerTo returns the answer to a question about a right, nil without one.
func (e *Evidence) answerTo(asked Refusal) *Review {
	return find(e.Reviews, func(r Review) bool { return r.Failed == nil && r.Refusal == asked })
}

// isRefused reports whether a workload may not write a held object in any way.
func (e *Evidence) isRefused(w Workload, h Held) bool {
	return !slices.ContainsFunc(h.OwnersRights(w), func(asked Refusal) bool {
		answer := e.answerTo(asked)
		return answer == nil || answer.Allowed
	})
}

// account is the name of the workload's service account.
func (w Workload) account() string { return cmp.Or(w.ServiceAccount, "default") }

// Account is the service account of the workload.
func (w Workload) Account() Service { return Service{w.Namespace, w.account()} }

// User is the name under which the workload's pods send requests.
func (w Workload) User() string { return "system:serviceaccount:" + w.Namespace + ":" + w.account() }
