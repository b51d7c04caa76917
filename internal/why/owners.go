package why

import (
	"cmp"
	_ "embed" // finalizers.yaml
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/internal/words"
)

// Keeper describes the known owner of a finalizer: a row of finalizers.yaml, which describes its
// fields.
type Keeper struct {
	Pattern    string   `yaml:"finalizer"`
	Types      []string `yaml:"types"`
	Name       string   `yaml:"owner"`
	Programs   []string `yaml:"programs"`
	Protects   string   `yaml:"protects"`
	Controller string   `yaml:"controller"`
	Outside    bool     `yaml:"outside"`
	Many       bool     `yaml:"many"`
	Balancer   bool     `yaml:"balancer"`
}

//go:embed finalizers.yaml
var finalizersFile []byte

// Keepers returns the known owners. A test reads each row.
var Keepers = sync.OnceValue(func() (all []Keeper) {
	decodeOwn(finalizersFile, &all)
	for i := range all {
		if all[i].Programs == nil {
			all[i].Programs = []string{all[i].Name}
		}
	}
	return all
})

// Known reports whether there is a row for the finalizer.
func (k Keeper) Known() bool { return k.Pattern != "" }

// Keeper returns the owner of a finalizer, if one is known that handles the type.
func (h Held) Keeper() (keeper Keeper) {
	fits := func(k Keeper) bool {
		return matches(k.Pattern, h.Finalizer) &&
			(k.Types == nil || slices.ContainsFunc(k.Types, func(t string) bool { return matches(t, h.Type.Name()) }))
	}
	if found := find(Keepers(), fits); found != nil {
		keeper = *found
	}
	return keeper
}

func matches(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return err == nil && matched
}

// isCalled reports whether the workload's name, container, image or command has the letters of a
// program, or its name is a word of the program's: it may be the program, or another.
func (w Workload) isCalled(program string) bool {
	program, name := strings.ToLower(program), strings.ToLower(w.Name)
	if len(program) < 4 { // its letters are in too many names
		return slices.ContainsFunc(w.names(), func(name string) bool { return hasWord(name, program) })
	}
	has := func(name string) bool { return strings.Contains(strings.ToLower(name), program) }
	return len(name) >= 4 && !slices.Contains(common, name) && hasWord(program, name) ||
		slices.ContainsFunc(w.names(), has)
}

// isNamed reports whether a name, container, image or command of the workload is exactly that of a
// program.
func (w Workload) isNamed(program string) bool {
	return slices.Contains(w.names(), program)
}

// names returns the name of the workload and those of its containers, images and commands.
func (w Workload) names() []string { return append([]string{w.Name}, w.Words...) }

// dashes makes dashes of what separates words in a name.
var dashes = strings.NewReplacer(":", "-", " ", "-", "/", "-", "@", "-", ".", "-", "_", "-")

// hasWord reports whether a name, such as that of the user eks:cloud-controller-manager, has that
// of a program as a word.
func hasWord(name, program string) bool {
	dashed := func(name string) string { return dashes.Replace(strings.ToLower(name)) }
	return strings.Contains("-"+dashed(name)+"-", "-"+strings.Trim(dashed(program), "-")+"-")
}

// common are words that many programs have in their names: as a part they say nothing.
var common = []string{
	"manager", "controller", "controller-manager", "operator", "provider", "server", "main", "agent", "app", "client",
	"daemon", "service",
	"worker", "python", "python3", "node", "java", "ruby", "dotnet", "kopf",
}

// isOf reports whether a Lease or its holder has the name of one of the programs, as a word.
func (l Lease) isOf(programs []string) bool {
	return slices.ContainsFunc(programs,
		func(program string) bool { return hasWord(l.Name, program) || hasWord(l.Holder, program) })
}

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
// which go first since Kubernetes 1.33.
func (e *Evidence) awaiting() []Held {
	if !e.onlyPodsYet() {
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

// ByRights reports whether the rights to update the type are read: its owner is known, and no
// controller of Kubernetes itself.
func (h Held) ByRights() bool {
	keeper := h.Keeper()
	return keeper.Known() && keeper.Controller == "" && h.Type.IsCustom()
}

// HeldNamespace returns the finalizers in the metadata of the namespace that are not the garbage
// collector's.
func (e *Evidence) HeldNamespace() (all []Held) {
	n := e.Namespace
	object := Object{Name: e.Name, UID: n.UID, ResourceVersion: n.ResourceVersion, Deleted: n.Deleted,
		Finalizers: n.Finalizers}
	for _, finalizer := range n.Finalizers {
		if !slices.Contains(collectorsOwn, finalizer) {
			all = append(all, Held{namespaceType, finalizer, object})
		}
	}
	return all
}

// MayOwn reports whether a workload may be the owner of a finalizer, by its name, or that of a
// container, an image or a command.
func (h Held) MayOwn(w Workload) bool {
	return slices.ContainsFunc(h.Keeper().Programs, w.isCalled)
}

// Owns reports whether a workload has exactly the name of a finalizer's owner.
func (h Held) Owns(w Workload) bool {
	keeper := h.Keeper()
	return slices.ContainsFunc(keeper.Programs, w.isNamed) || w.isNamed(keeper.Name)
}

// standstill begins the proof that an object has not changed.
const standstill = "standstill"

// lookForOwner returns the state of a finalizer's owner, and adds what shows it to the finding.
func (e *Evidence) lookForOwner(f *Finding, h Held) State {
	keeper := h.Keeper()
	state := e.stateOf(f, h, keeper)
	if keeper.Known() {
		f.Owner = &Party{Name: keeper.Name, State: state}
	}
	return state
}

// notKnown returns that state, and adds the reason to the finding.
func (f *Finding) notKnown(failed *Failure, format string, arguments ...any) State {
	f.lack(failed, format, arguments...)
	return NotKnown
}

func (e *Evidence) stateOf(f *Finding, h Held, keeper Keeper) State {
	still, known := e.standstill(h.Type, h.Object)
	if !known {
		return f.notKnown(nil, "%s, which does not show whether the owner acts", e.seenOnce())
	}
	if changed := e.changedOf(h); !still || changed != "" {
		f.saw(2, h.Type.Request, "%s/%s has changed", h.Type.Name(), cmp.Or(changed, h.Object.Name))
		return Ready // it acts
	}
	if h.Type != namespaceType {
		f.saw(2, h.Type.Request, standstill+": resourceVersion and finalizers are the same in both samples")
	}
	switch {
	case keeper.Name == "":
		return f.notKnown(nil, "the owner of %s is unknown", h.Finalizer)
	case keeper.Outside:
		return f.notKnown(nil, "%s runs outside the cluster", keeper.Name)
	case keeper.Controller != "":
		return e.builtIn(f, keeper.Controller)
	}
	state := e.workloadState(f, h, keeper.Name)
	if state.away() {
		state = e.leads(f, keeper.Programs, state)
	}
	if keeper.Many && state != NotKnown { // it rests on a name
		return f.notKnown(nil, "several programs are called %s: which of them removes %s is not known", keeper.Name,
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
	if controllerOff(e, f, controller) != nil {
		return Stopped
	}
	if e.managerRuns() {
		return Ready
	}
	return f.notKnown(cmp.Or(e.Managers.Failed, e.Leases.Failed), "whether %s runs could not be seen", controller)
}

// workloadState looks for a workload with the owner's name, or else for those with a container or
// command of that name. One that only has the name as a part may be another part of the owner, or
// another program: it never makes the owner Ready or Stopped, and while it runs the state is
// NotKnown.
func (e *Evidence) workloadState(f *Finding, h Held, name string) State {
	if !e.Workloads.Known() {
		return f.notKnown(e.Workloads.Failed, "the workloads could not be read")
	}
	called := filter(e.Workloads.Items, h.MayOwn)
	owners := filter(called, func(w Workload) bool { return w.Name == name })
	if len(owners) == 0 {
		owners = filter(called, h.Owns)
	}
	runs := func(w Workload) bool { return w.Ready > 0 }
	if w := find(owners, runs); w != nil {
		f.saw(1, e.Workloads.Request, "%s: %d of %d ready", w, w.Ready, w.Replicas)
		return Ready
	}
	if w := find(called, runs); w != nil {
		return f.notKnown(nil, "%s runs, and may be %s or a part of it", w, name)
	}
	for _, w := range called {
		switch {
		case w.Replicas > 0 && e.At.Sub(w.Since) < startsWithin:
			return f.notKnown(nil, "%s has been without a ready pod since %s: it may be starting", w, clock(w.Since))
		case w.Replicas == 0 && e.At.Sub(w.Since) < time.Minute:
			return f.notKnown(nil, "%s was written at %s, and may have been stopped only then", w, clock(w.Since))
		}
	}
	if len(owners) == 0 {
		f.saw(1, e.Workloads.Request, "no workload is called %s", name)
		return NotHere
	}
	for _, w := range owners[:min(len(owners), 3)] {
		f.saw(1, e.Workloads.Request, "%s: 0 of %d ready", w, w.Replicas)
	}
	return Stopped
}

// startsWithin is how long a program may take to start: as long as Kubernetes waits for a
// Deployment by default (progressDeadlineSeconds). One that is late is not at work.
const startsWithin = 10 * time.Minute

// leads looks for a renewed Lease that the owner may hold: its process may run outside the cluster.
func (e *Evidence) leads(f *Finding, programs []string, state State) State {
	if !e.Leases.Known() {
		return f.notKnown(e.Leases.Failed, "the Leases could not be read")
	}
	for _, lease := range e.Leases.Items {
		switch {
		case !lease.isOf(programs):
		case lease.Expired(e.At):
			f.saw(1, e.Leases.Request, "Lease %s/%s: last renewed %s ago",
				lease.Namespace, lease.Name, words.Duration(e.At.Sub(lease.Renewed)))
		case state == NotHere:
			f.saw(1, e.Leases.Request, "Lease %s/%s is renewed", lease.Namespace, lease.Name)
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
	seen := Finding{}
	f.doubt(e.lookForOwner(&seen, h) == Ready, "%s seems to be at work", cmp.Or(h.Keeper().Name, "its owner"))
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
		if keeper := h.Keeper(); keeper.Known() && e.lookForOwner(&f, h) == Ready {
			sign := ""
			if last := len(f.Proof) - 1; last >= 0 && !strings.HasPrefix(f.Proof[last].Says, standstill) {
				sign = " (" + f.Proof[last].Says + ")"
			}
			return fmt.Sprintf("%s for %s, which seems to be at work%s, to remove %s",
				h.Type.waiting(h.Type.Finalizers[h.Finalizer]), keeper.Name, sign, h.Finalizer)
		}
	}
	return ""
}
