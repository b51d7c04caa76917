package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/internal/words"
)

// State is what was seen of the owner of a finalizer. None of them says that the owner is gone: it
// may run where no request shows it, such as outside the cluster.
type State string

// The states.
const (
	// Ready: a workload of it has a ready pod, or it acts. It may still finish.
	Ready State = "ready"
	// Stopped: its workload has no ready pod, or is switched off.
	Stopped State = "stopped"
	// NotHere: no workload of this cluster has its name.
	NotHere State = "not in this cluster"
	// NotKnown: none of these was seen. How long a finalizer has stayed does not count.
	NotKnown State = "unknown"
)

// away reports whether the owner was looked for, and is not at work in this cluster.
func (s State) away() bool { return s == Stopped || s == NotHere }

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

// awaiting returns the finalizers of objects that are not terminating yet, because pods remain,
// which go first.
func (e *Evidence) awaiting() []Held {
	if e.pods().Count == 0 || e.isBefore(33) {
		return nil
	}
	return e.held(func(t *Type, o Object) bool { return o.Deleted.IsZero() && t.Name() != "pods" })
}

// HeldOrAwaiting returns both, those that keep objects first.
func (e *Evidence) HeldOrAwaiting() []Held { return append(e.Held(), e.awaiting()...) }

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

// lookForOwner returns the state of a finalizer's owner, and adds what shows it to the finding.
func (e *Evidence) lookForOwner(f *Finding, h Held) State {
	name, programs := e.ownerOf(h)
	state := e.stateOf(f, h, name, programs)
	if name != "" {
		f.Owner = &Party{Name: name, State: state}
	}
	return state
}

// notKnown returns that state, and adds the reason to the finding.
func (f *Finding) notKnown(failed *Failure, format string, arguments ...any) State {
	f.lack(failed, format, arguments...)
	return NotKnown
}

func (e *Evidence) stateOf(f *Finding, h Held, name string, programs []string) State {
	still, known := e.standstill(h.Type, h.Object)
	if !known {
		return f.notKnown(nil, "%s, which does not show whether the owner acts", e.seenOnce())
	}
	if changed := e.changedOf(h); !still || changed != "" {
		f.saw(2, h.Type.Request, "%s/%s has changed", h.Type.Name(), orElse(changed, h.Object.Name))
		return Ready // it acts
	}
	if at, ok := e.Released[h.Type.Name()+" "+h.Finalizer]; ok {
		f.saw(2, h.Type.Request, "%s went from %s %s ago", h.Finalizer, h.Type.Name(), words.Duration(e.now().Sub(at)))
		return Ready // it acts from time to time
	}
	f.saw(2, h.Type.Request, standstill+": resourceVersion and finalizers are the same in both samples")
	keeper, listed := h.Keeper()
	switch {
	case name == "" && !slices.ContainsFunc(e.Stamps, func(s Stamp) bool { return s.isOf(h) }):
		return f.notKnown(nil, "the owner of %s was not looked for%s", h.Finalizer, h.foreign())
	case name == "":
		return f.notKnown(nil, "the owner of %s is unknown%s", h.Finalizer, h.foreign())
	case keeper.Outside:
		return f.notKnown(nil, "%s runs outside the cluster", name)
	case keeper.Controller != "":
		return e.builtIn(f, keeper.Controller)
	}
	state := e.workloadState(f, h, name)
	if !state.away() {
		return state
	}
	if h.Finalizer == balancerCleanup && (e.Server == "" || e.isBefore(31)) {
		return f.notKnown(nil, "kube-controller-manager %s may have a cloud provider built in, which removes load "+
			"balancers: see its --cloud-provider", e.Server)
	}
	state = e.leads(f, programs, state)
	if !state.away() {
		return state
	}
	if !listed {
		return f.notKnown(nil, "no table has the owner of %s: %s set it, and another program may remove it",
			h.Finalizer, strings.Join(programs, " and "))
	}
	if keeper.Many {
		return f.notKnown(nil, "several programs are called %s: which of them removes %s is not known", name,
			h.Finalizer)
	}
	return state
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

// builtIn returns the state of a controller of kube-controller-manager.
func (e *Evidence) builtIn(f *Finding, controller string) State {
	culprit := f.Culprit
	off := controllerOff(e, f, controller)
	f.Culprit = culprit
	switch {
	case off:
		return Stopped
	case slices.ContainsFunc(e.Managers.Items, func(m Manager) bool { return m.Ready }),
		e.renewedLease(managerName) != nil:
		return Ready
	}
	return f.notKnown(cmp.Or(e.Managers.Failed, e.Leases.Failed), "whether %s runs could not be seen", controller)
}

// workloadState looks for a workload with the owner's name, or else for those with a container or
// command of that name. One that only has the name as a word may be another part of the owner, or
// another program: it never makes the owner Ready or Stopped, and while it runs the state is
// NotKnown, unless another workload fits better.
func (e *Evidence) workloadState(f *Finding, h Held, name string) State {
	if !e.Workloads.Known() {
		return f.notKnown(e.Workloads.Failed, "the workloads could not be read")
	}
	called := e.WorkloadsOf(h)
	if len(called) == 0 {
		f.saw(1, e.Workloads.Request, "no workload is called like %s", name)
		return NotHere
	}
	owners := slices.DeleteFunc(slices.Clone(called), func(w Workload) bool { return w.Name != name })
	if len(owners) == 0 {
		owners = slices.DeleteFunc(slices.Clone(called), func(w Workload) bool { return !e.isOwner(w, h) })
	}
	if at := slices.IndexFunc(owners, func(w Workload) bool { return w.Ready > 0 }); at >= 0 {
		w := owners[at]
		f.saw(1, e.Workloads.Request, "%s: %d of %d ready", w, w.Ready, w.Replicas)
		return Ready
	}
	mayBe := func(w Workload) bool { return w.Ready > 0 && (len(owners) == 0 || e.isNamedLike(w, h)) }
	if at := slices.IndexFunc(called, mayBe); at >= 0 {
		w := called[at]
		return f.notKnown(nil, "%s runs, and may be %s or a part of it", w, name)
	}
	if len(owners) == 0 {
		f.saw(1, e.Workloads.Request, "no workload is called %s", name)
		return NotHere
	}
	for _, w := range called {
		switch {
		case !e.isNamedLike(w, h):
		case e.MayStart(w):
			return f.notKnown(nil, "%s has been without a ready pod since %s: it may be starting", w, clock(w.Since))
		case w.Replicas == 0 && e.At.Sub(w.Since) < time.Minute:
			return f.notKnown(nil, "%s was written at %s, and may have been stopped only then", w, clock(w.Since))
		}
	}
	for _, w := range owners[:min(len(owners), 3)] {
		f.saw(1, e.Workloads.Request, "%s: 0 of %d ready", w, w.Replicas)
	}
	return Stopped
}

// isNamedLike reports whether a workload itself, or a program in it, is called like an owner,
// perhaps with the name of a Helm release before. A pod is called like the workload that it belongs
// to.
func (e *Evidence) isNamedLike(w Workload, h Held) bool {
	called, bare := w.Name, w.Kind == PodKind
	for _, of := range e.Workloads.Items {
		if w.Kind == PodKind && of.Kind != PodKind && of.Namespace == w.Namespace && strings.HasPrefix(w.Name, of.Name+"-") && (bare || len(of.Name) > len(called)) {
			called, bare = of.Name, false
		}
	}
	return slices.ContainsFunc(e.namesOf(h), func(name string) bool {
		return called == name || strings.HasSuffix(called, "-"+name) || bare && strings.HasPrefix(called, name+"-") ||
			w.isNamed(name)
	})
}

// startsWithin is how long a program may take to start: as long as Kubernetes waits for a
// Deployment by default (progressDeadlineSeconds). One that is late is not at work.
const startsWithin = 10 * time.Minute

// MayStart reports whether a workload without a ready pod is about to have one.
func (e *Evidence) MayStart(w Workload) bool {
	return w.Ready == 0 && w.Replicas > 0 && (w.Kind == CronKind || e.At.Sub(w.Since) < startsWithin)
}

// leads looks for a renewed Lease that the owner may hold: its process may run outside the cluster.
func (e *Evidence) leads(f *Finding, programs []string, state State) State {
	if !e.AllLeases.Known() {
		return f.notKnown(e.AllLeases.Failed, "the Leases could not be read")
	}
	for _, lease := range e.AllLeases.Items {
		switch {
		case !lease.isOf(programs):
		case lease.Expired(e.At):
			f.saw(1, e.AllLeases.Request, "Lease %s/%s: last renewed %s ago",
				lease.Namespace, lease.Name, words.Duration(e.At.Sub(lease.Renewed)))
		case state == NotHere:
			f.saw(1, e.AllLeases.Request, "Lease %s/%s is renewed", lease.Namespace, lease.Name)
			return Ready
		default:
			return f.notKnown(nil, "Lease %s/%s is renewed, and may be that of the owner or of a part of it",
				lease.Namespace, lease.Name)
		}
	}
	return state
}

// lackOwner adds to a finding that rests on a finalizer why its owner is not known to be gone: it
// may still finish.
func (f *Finding) lackOwner(e *Evidence, h Held) {
	owner, _ := e.ownerOf(h)
	seen := Finding{}
	f.doubt(e.lookForOwner(&seen, h) == Ready, "%s seems to be at work", owner)
	f.lackToo(seen)
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
		if name, _ := e.ownerOf(h); name != "" && e.lookForOwner(&f, h) == Ready {
			sign := ""
			if last := len(f.Proof) - 1; last >= 0 && !strings.HasPrefix(f.Proof[last].Says, standstill) {
				sign = " (" + f.Proof[last].Says + ")"
			}
			return fmt.Sprintf("%s for %s, which seems to be at work%s, to remove %s",
				h.Type.waiting(h.Type.Finalizers[h.Finalizer]), name, sign, h.Finalizer)
		}
	}
	return ""
}
