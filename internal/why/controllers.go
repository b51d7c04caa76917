package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/internal/words"
	"orrery/restclient/api"
)

// The names of kube-controller-manager and its controllers.
const (
	managerName         = "kube-controller-manager"
	managerNamespace    = "kube-system"
	namespaceController = "namespace-controller"
	collectorController = "garbage-collector-controller"
	claimController     = "persistentvolumeclaim-protection-controller"
)

// olderNames are what --controllers also accepts.
var olderNames = map[string]string{
	namespaceController: "namespace", collectorController: "garbagecollector", claimController: "pvc-protection",
	"job-controller": "job", "resourceclaim-controller": "resource-claim-controller",
	"deployment-controller": "deployment", "replicaset-controller": "replicaset",
}

// SwitchedOff reports whether the entries of --controllers leave a controller of
// kube-controller-manager out: the first entry that names it decides, then "*". Without entries all
// are on.
func SwitchedOff(entries []string, controller string) bool {
	for _, entry := range entries {
		name, off := strings.CutPrefix(entry, "-")
		if name == controller || name != "" && name == olderNames[controller] {
			return off
		}
	}
	return len(entries) > 0 && !slices.Contains(entries, "*")
}

// RunsManager reports whether a container runs kube-controller-manager, by its name, its image or
// its command line.
func RunsManager(name, image string, line []string) bool {
	return slices.ContainsFunc(append([]string{name, image}, line...), func(word string) bool {
		return strings.Contains(word, managerName)
	})
}

// ControllersFlag returns the entries of --controllers in a command line. The flag may be repeated,
// and may be inside a shell command.
func ControllersFlag(line []string) (entries []string) {
	words := strings.Fields(strings.Join(line, " "))
	for i, word := range words {
		name, value, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if name != "controllers" || !strings.HasPrefix(word, "-") {
			continue
		}
		if !given && i+1 < len(words) {
			value = words[i+1]
		}
		for entry := range strings.SplitSeq(value, ",") {
			entries = append(entries, strings.Trim(entry, `"' `))
		}
	}
	return entries
}

// lacks reports whether the pod runs without a controller.
func (m Manager) lacks(controller string) bool {
	return m.Controllers != "" && SwitchedOff(strings.Split(m.Controllers, ","), controller)
}

// managerLeases are the Leases of programs that have a namespace controller.
var managerLeases = []string{managerName, "orrery"}

func noController(e *Evidence) []Finding {
	f := Finding{Culprit: Reference{Resource: "pods", Namespace: managerNamespace, Name: managerName}}
	f.Says = "no namespace controller works on it"
	if e.Untouched() && none(e.Latest().Conditions) {
		return withoutConditions(e, f)
	}
	if e.Second == nil || e.written() || !controllerOff(e, &f, namespaceController) {
		return nil
	}
	f.saw(2, e.Namespace.Request, "its conditions and finalizers have not changed")
	// A write after the deletion shows a controller at work if another program made it, or if a pod
	// with that flag was there already. Before its Lease expired, kube-controller-manager may have
	// written.
	expired := f.Culprit.Resource != "pods"
	for _, w := range e.Namespace.Writers {
		older := !expired && slices.ContainsFunc(e.Managers.Items, func(m Manager) bool { return !m.Created.IsZero() && m.Created.Before(w.At) })
		if w.At.After(e.Namespace.Deleted) && (w.Manager != managerName || older) {
			f.lack(nil, "%s has written the conditions since the deletion, and may be at work", w.Manager)
			break
		}
	}
	return []Finding{f}
}

// withoutConditions is about a namespace that no controller has written to. Only a controller that
// is switched off, or whose process is dead, is proof of that: another one may be slow, or refused.
func withoutConditions(e *Evidence, f Finding) []Finding {
	f.saw(1, e.Namespace.Request, "%s after the deletion, status.conditions has none of the five conditions",
		words.Duration(e.age()))
	off := controllerOff(e, &f, namespaceController)
	alive := e.aliveController()
	switch {
	case !off && alive != "":
		f.Says = "a namespace controller is alive, and has written nothing here"
		f.lack(nil, "%s: the controller may be slow, or its requests refused", alive)
		f.Do = []string{readItsLog}
	case !off:
		f.lack(nil, "no controller is known to be dead or switched off: one may run outside what was read")
		f.lackRead(e)
		f.Do = []string{"start kube-controller-manager with its namespace-controller, if none runs",
			"otherwise " + readItsLog}
	}
	name, at := e.deletedSince()
	f.doubt(name != "",
		"%s has been terminating since %s, after the namespace: a controller was at work", name, clock(at))
	others := e.Elsewhere.Items
	if busy := slices.IndexFunc(others,
		func(w ConditionsWrite) bool { return w.At.After(e.Namespace.Deleted) }); busy >= 0 {
		f.lack(nil, "a namespace controller wrote the conditions of %s at %s", others[busy].Namespace,
			clock(others[busy].At))
		f.Says = "a namespace controller is at work, and has written nothing here"
		f.Do = []string{readItsLog}
	}
	return []Finding{f}
}

// renewedLease returns a Lease of one of these names that is renewed, nil for none.
func (e *Evidence) renewedLease(names ...string) *Lease {
	return find(e.Leases.Items, func(l Lease) bool { return slices.Contains(names, l.Name) && !l.Expired(e.At) })
}

// aliveController says what shows that a namespace controller is alive; "" for nothing.
func (e *Evidence) aliveController() string {
	if l := e.renewedLease(managerLeases...); l != nil {
		return fmt.Sprintf("Lease %s/%s is renewed", l.Namespace, l.Name)
	}
	for _, m := range e.Managers.Items {
		if m.Ready && !m.lacks(namespaceController) {
			return fmt.Sprintf("pod %s is ready", m.Name)
		}
	}
	return ""
}

// lackRead adds to a finding what could not be read about controllers.
func (f *Finding) lackRead(e *Evidence) {
	f.unread(e.Leases.Failed, "whether a controller is alive by its Lease could not be seen")
	f.unread(e.Managers.Failed, "whether a pod of %s is ready could not be seen", managerName)
}

// readItsLog is advice about a controller that may be at work.
const readItsLog = "read the controller's log: it says what refuses or delays its requests"

// Untouched reports whether no controller has written a condition yet, although it had time to.
func (e *Evidence) Untouched() bool { return e.age() >= backOffCap && none(e.Namespace.Conditions) }

// deletedSince returns an object that was deleted after the namespace; "" for none.
func (e *Evidence) deletedSince() (name string, at time.Time) {
	for _, t := range e.Types {
		for _, o := range t.Objects {
			if t.Name() != "pods" && !o.Deleted.IsZero() && !o.Deleted.Before(e.Namespace.Deleted) {
				return t.Name() + "/" + o.Name, o.Deleted
			}
		}
	}
	for _, p := range e.Pods { // its deletionTimestamp is when it must have ended
		if at := p.Deleted.Add(-time.Duration(p.Grace) * time.Second); !p.Deleted.IsZero() && !at.Before(e.Namespace.Deleted) {
			return "pods/" + p.Name, at
		}
	}
	return "", time.Time{}
}

func none(conditions []api.NamespaceCondition) bool {
	return !slices.ContainsFunc(conditions, func(c api.NamespaceCondition) bool { return isDeletionCondition(c.Type) })
}

// controllerOff reports whether a controller of kube-controller-manager is switched off or its
// process is dead. It adds the proof to the finding.
func controllerOff(e *Evidence, f *Finding, controller string) bool {
	live := e.renewedLease(managerName) != nil
	orreryLeads := e.renewedLease("orrery") != nil
	ready := slices.ContainsFunc(e.Managers.Items, func(m Manager) bool { return m.Ready })
	on := slices.ContainsFunc(e.Managers.Items, func(m Manager) bool { return !m.lacks(controller) })
	if managers := e.Managers.Items; len(managers) > 0 && !on && !(orreryLeads && controller == namespaceController) {
		f.Culprit = Reference{Resource: "pods", Namespace: managerNamespace, Name: managers[0].Name}
		f.saw(1, e.Managers.Request, "pod %s/%s has --controllers=%s, without %s", managerNamespace, managers[0].Name, managers[0].Controllers, controller)
		if !e.Leases.Known() {
			f.lack(e.Leases.Failed, "whether another process of %s is at work could not be seen by its Lease", managerName)
		}
		for _, lease := range e.Leases.Items {
			f.doubt(lease.Name == managerName && !lease.Expired(e.At) && !slices.ContainsFunc(managers, lease.isHeldBy),
				"the Lease of %s is held by %s, which is none of its pods: another process may be at work",
				managerName, lease.Holder)
		}
		return true
	}
	if live || ready || orreryLeads && controller == namespaceController || !e.Managers.Known() {
		return false // a Lease of orrery shows a namespace controller only
	}
	for _, lease := range e.Leases.Items {
		leads := lease.Name == managerName || controller == namespaceController && slices.Contains(managerLeases, lease.Name)
		if leads && !e.writtenSince(lease.Renewed.Add(lease.Duration)) {
			f.Culprit = Reference{Resource: "leases.coordination.k8s.io", Namespace: lease.Namespace, Name: lease.Name}
			f.saw(1, e.Leases.Request, "Lease %s/%s expired: last renewed %s ago; no pod of %s is ready",
				lease.Namespace, lease.Name, words.Duration(e.At.Sub(lease.Renewed)), managerName)
			starts := slices.IndexFunc(e.Managers.Items, func(m Manager) bool { return e.now().Sub(m.started()) < startsWithin })
			switch {
			case starts >= 0 && (e.now().Sub(e.Managers.Items[starts].Created) < startsWithin || e.now().Sub(lease.Renewed) < startsWithin): // else it crashes
				m := e.Managers.Items[starts]
				f.lack(nil, "pod %s was started %s ago, and may become ready",
					m.Name, words.Duration(e.now().Sub(m.started())))
			case e.At.Sub(lease.Renewed) < backOffCap:
				f.lack(nil, "%s may be starting again", managerName)
			}
			f.doubt(len(e.Managers.Items) == 0 && !(controller == namespaceController && e.Untouched()),
				"no pod of %s is visible: it may run elsewhere, without a Lease", managerName)
			return true
		}
	}
	return false
}

// isHeldBy reports whether the holder of the Lease, a host and a number, is a pod of
// kube-controller-manager: its name ends with that of its node.
func (l Lease) isHeldBy(m Manager) bool {
	host, _, _ := strings.Cut(l.Holder, "_")
	host = "-" + strings.ToLower(host)
	return strings.HasSuffix(m.Name, host) || strings.Contains(m.Name, host+".") // the name of a node may have its domain
}

// writtenSince reports whether a process wrote the controller's conditions after a moment, of this
// namespace or another one: it may work without a Lease.
func (e *Evidence) writtenSince(moment time.Time) bool {
	writers := slices.Concat(e.Namespace.Writers, e.Latest().Writers)
	return slices.ContainsFunc(writers, func(w Writer) bool { return w.At.After(moment) }) ||
		slices.ContainsFunc(e.Elsewhere.Items, func(w ConditionsWrite) bool { return w.At.After(moment) })
}

// togetherWithin is how near two writes of the conditions must be for both writers to be at work.
const togetherWithin = 15 * time.Second

func twoControllers(e *Evidence) []Finding {
	if e.Second == nil {
		return nil
	}
	writers := lastWrites(e.Second.Namespace.Writers, e.Namespace.Writers)
	if len(writers) < 2 || !contradict(e.Namespace.Conditions, e.Second.Namespace.Conditions) ||
		writers[0].At.Sub(writers[1].At) > togetherWithin {
		return nil
	}
	byHand := func(w Writer) bool {
		return slices.ContainsFunc(tools, func(tool string) bool { return strings.HasPrefix(w.Manager, tool) })
	}
	if slices.ContainsFunc(writers[:2], byHand) {
		return nil // it wrote once
	}
	names := []string{writers[0].Manager, writers[1].Manager}
	slices.Sort(names)
	f := Finding{Culprit: Reference{Resource: "namespaces", Name: e.Name}}
	f.Says = fmt.Sprintf("two controllers, %s, overwrite each other's conditions", listed(names))
	f.saw(2, e.Namespace.Request, "managedFields: %s own f:conditions, and wrote them within %s of each other",
		listed(names), words.Duration(togetherWithin))
	f.saw(2, e.Namespace.Request, "the conditions differ between the samples")
	f.doubt(writers[1].At.Before(e.At.Truncate(time.Second)),
		"%s has not written since the first sample, and may have stopped", writers[1].Manager)
	f.unread(e.Leases.Failed, "whether both still lead could not be seen by their Leases")
	for _, lease := range e.Leases.Items {
		switch at := writers[0].At.Add(-retryPeriod); {
		case !slices.Contains(names, lease.Name):
		case lease.Expired(e.now()) || lease.Name == writers[1].Manager && lease.Renewed.Before(at):
			f.lack(nil, "%s does not renew its Lease any more, and may have stopped", lease.Name)
		}
	}
	return []Finding{f}
}

// tools begin the managers that people and scripts write with.
var tools = []string{"kubectl", "k9s", "curl", "Python", "python", "Go-http-client", "OpenAPI-Generator", "Kubernetes Java"}

// retryPeriod is longer than a leader's pause between two renewals of its Lease, which is 2 s, and
// the seconds by which managedFields round.
const retryPeriod = 4 * time.Second

// lastWrites returns each writer of two samples once, the latest first. One that overwrites all
// that the other wrote takes its entry of managedFields away, so that each sample may have one of
// them only.
func lastWrites(second, first []Writer) (all []Writer) {
	all = slices.Concat(second, first)
	slices.SortStableFunc(all, func(a, b Writer) int { return b.At.Compare(a.At) })
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(w Writer) bool {
		again := seen[w.Manager]
		seen[w.Manager] = true
		return again
	})
}

// contradict reports whether the statuses of a condition differ.
func contradict(a, b []api.NamespaceCondition) bool {
	for _, first := range a {
		for _, second := range b {
			if first.Type == second.Type && first.Status != second.Status {
				return true
			}
		}
	}
	return false
}
