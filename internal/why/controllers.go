package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/internal/words"
	"orrery/restclient/api"
)

// The names of kube-controller-manager and its controllers.
const (
	managerName         = "kube-controller-manager"
	managerNamespace    = "kube-system"
	ownName             = "orrery" // of the Lease of "orrery run"
	namespaceController = "namespace-controller"
	collectorController = "garbage-collector-controller"
)

// olderNames are what --controllers also accepts.
var olderNames = map[string]string{
	namespaceController: "namespace", collectorController: "garbagecollector",
	"persistentvolumeclaim-protection-controller": "pvc-protection",
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

func noController(e *Evidence) []Finding {
	f := Finding{Culprit: Reference{Resource: "pods", Namespace: managerNamespace, Name: managerName}}
	f.Says = "no namespace controller works on it"
	if e.untouched() && none(e.Latest().Conditions) {
		return withoutConditions(e, f)
	}
	if e.Second == nil || e.written() {
		return nil
	}
	off := controllerOff(e, &f, namespaceController)
	if off == nil {
		return nil
	}
	f.Culprit = *off
	f.saw(2, e.Namespace.Request, "its conditions and finalizers have not changed")
	// A write after the deletion shows a controller at work, unless its process is dead.
	switchedOff := off.Resource == "pods"
	since := func(w Writer) bool {
		return w.At.After(e.Namespace.Deleted) && (w.Manager != managerName || switchedOff)
	}
	if w := find(e.Namespace.Writers, since); w != nil {
		f.lack(nil, "%s has written the conditions since the deletion, and may be at work", w.Manager)
	}
	return []Finding{f}
}

// withoutConditions is about a namespace that no controller has written to. Only a controller that
// is switched off, or whose process is dead, is proof of that: another one may be slow, or refused.
func withoutConditions(e *Evidence, f Finding) []Finding {
	f.saw(1, e.Namespace.Request, "%s after the deletion, status.conditions has none of the five conditions",
		words.Duration(e.age()))
	moves := e.progress()
	f.doubt(moves != "", "%s: a controller may be at its first pass", moves)
	if off := controllerOff(e, &f, namespaceController); off != nil {
		f.Culprit = *off
		return []Finding{f}
	}
	f.lack(nil, "no controller is known to be dead or switched off: one may be slow, be refused, or not be seen")
	f.unread(e.Leases.Failed, "whether a controller is alive by its Lease could not be seen")
	f.unread(e.Managers.Failed, "whether a pod of %s is ready could not be seen", managerName)
	return []Finding{f}
}

// renews reports whether a controller of that name renews its Lease.
func (e *Evidence) renews(name string) bool {
	lease := e.lease(managerNamespace, name)
	return lease != nil && !lease.Expired(e.At)
}

// managerRuns reports whether kube-controller-manager is alive.
func (e *Evidence) managerRuns() bool {
	return e.renews(managerName) || slices.ContainsFunc(e.Managers.Items, func(m Manager) bool { return m.Ready })
}

// untouched reports whether no controller has written a condition yet, although it had time to.
func (e *Evidence) untouched() bool { return e.age() >= backOffCap && none(e.Namespace.Conditions) }

func none(conditions []api.NamespaceCondition) bool {
	return !slices.ContainsFunc(conditions,
		func(c api.NamespaceCondition) bool { return slices.Contains(ConditionTypes, c.Type) })
}

// controllerOff returns the object that shows that a controller of kube-controller-manager is
// switched off or that its process is dead, and adds the proof to the finding; nil for neither.
func controllerOff(e *Evidence, f *Finding, controller string) *Reference {
	if !e.Managers.Known() || controller == namespaceController && e.renews(ownName) {
		return nil // a Lease of orrery shows a namespace controller only
	}
	managers := e.Managers.Items
	if len(managers) > 0 && !slices.ContainsFunc(managers, func(m Manager) bool { return !m.lacks(controller) }) {
		f.saw(1, e.Managers.Request, "pod %s/%s has --controllers=%s, without %s", managerNamespace, managers[0].Name,
			managers[0].Controllers, controller)
		return &Reference{Resource: "pods", Namespace: managerNamespace, Name: managers[0].Name}
	}
	if e.managerRuns() {
		return nil
	}
	expired := find(e.Leases.Items, func(l Lease) bool { // neither is renewed any more
		isIts := l.Name == managerName || l.Name == ownName && controller == namespaceController
		return isIts && l.Namespace == managerNamespace && !e.writtenSince(l.Renewed.Add(l.Duration))
	})
	if expired == nil {
		return nil
	}
	ago := e.now().Sub(expired.Renewed)
	f.saw(1, e.Leases.Request, "Lease %s/%s expired: last renewed %s ago; no pod of %s is ready", expired.Namespace,
		expired.Name, words.Duration(ago), managerName)
	young := func(m Manager) bool { return e.now().Sub(m.Created) < startsWithin }
	f.doubt(ago < backOffCap || len(managers) > 0 && ago < startsWithin || slices.ContainsFunc(managers, young),
		"%s may be starting", managerName)
	f.doubt(len(managers) == 0 && !(controller == namespaceController && e.untouched()),
		"no pod of %s is visible: it may run elsewhere, without a Lease", managerName)
	return &Reference{Resource: "leases.coordination.k8s.io", Namespace: expired.Namespace, Name: expired.Name}
}

// writtenSince reports whether a process wrote the controller's conditions after a moment: it may
// work without a Lease.
func (e *Evidence) writtenSince(moment time.Time) bool {
	writers := slices.Concat(e.Namespace.Writers, e.Latest().Writers)
	return slices.ContainsFunc(writers, func(w Writer) bool { return w.At.After(moment) })
}

func twoControllers(e *Evidence) []Finding {
	if e.Second == nil || !contradict(e.Namespace.Conditions, e.Second.Namespace.Conditions) {
		return nil
	}
	var names []string // of the controllers that wrote since the first sample
	for _, w := range e.Second.Namespace.Writers {
		byHand := slices.ContainsFunc(tools, func(tool string) bool { return strings.HasPrefix(w.Manager, tool) })
		if !byHand && !w.At.Before(e.At.Truncate(time.Second)) && !slices.Contains(names, w.Manager) {
			names = append(names, w.Manager)
		}
	}
	if len(names) < 2 {
		return nil
	}
	slices.Sort(names)
	f := Finding{Culprit: Reference{Resource: "namespaces", Name: e.Name}}
	f.Says = fmt.Sprintf("two controllers, %s, overwrite each other's conditions", listed(names))
	f.saw(2, e.Namespace.Request, "managedFields: %s own f:conditions, and wrote them since the first sample",
		listed(names))
	f.saw(2, e.Namespace.Request, "the conditions differ between the samples")
	f.unread(e.Leases.Failed, "whether both still lead could not be seen by their Leases")
	for _, name := range names {
		lease := e.lease(managerNamespace, name)
		f.doubt(lease != nil && lease.Expired(e.now()),
			"%s does not renew its Lease any more, and may have stopped", name)
	}
	return []Finding{f}
}

// tools begin the managers that people and scripts write with, once and not as a controller.
var tools = []string{
	"kubectl", "k9s", "curl", "Python", "python", "Go-http-client", "OpenAPI-Generator", "Kubernetes Java",
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

// forbidden is the refusal of RBAC in a condition.
// It begins a server's text: the message of a webhook or a policy may quote another's refusal.
var forbidden = lazyPattern(`^[a-z0-9.-]+ (?:"[^"]*" )?is forbidden: User ("(?:[^"\\]|\\.)+") cannot ([a-z]+) resource "([^"]+)" in API group "([^"]*)" in the namespace "([^"]+)"`)

// Refusal is a right that a condition says the controller lacks, or that a finalizer's owner may
// lack, for one object if Name is set.
type Refusal struct {
	User     string `json:"user"`
	Verb     string `json:"verb"`
	Group    string `json:"group,omitempty"`
	Resource string `json:"resource"`
	Name     string `json:"name,omitempty"`
}

// Refusals returns the rights that the condition ContentFailure names, each once.
func Refusals(n *Namespace, namespace string) []Refusal {
	var refusals []Refusal
	for _, one := range texts(n.Condition(api.NamespaceDeletionContentFailure)) {
		match := forbidden().FindStringSubmatch(one)
		if match == nil {
			continue
		}
		user, err := strconv.Unquote(match[1])
		if err != nil {
			continue // Kubernetes writes it quoted
		}
		refusal := Refusal{User: user, Verb: match[2], Resource: match[3], Group: match[4]}
		if match[5] == namespace && !slices.Contains(refusals, refusal) {
			refusals = append(refusals, refusal)
		}
	}
	return refusals
}

func mayNotDelete(e *Evidence) []Finding {
	var findings []Finding
	for _, refusal := range Refusals(e.Latest(), e.Name) {
		user, name := refusal.User, Type{Group: refusal.Group, Resource: refusal.Resource}.Name()
		f := Finding{Culprit: Reference{Resource: "users", Name: user}}
		mayNot := fmt.Sprintf("user %s may not %s ", user, refusal.Verb)
		if slices.ContainsFunc(findings, func(of Finding) bool { return strings.HasPrefix(of.Says, mayNot) }) {
			continue // the first type stands for all
		}
		f.Says = mayNot + name
		f.saw(1, e.Namespace.Request, "ContentFailure: User %q cannot %s %s", user, refusal.Verb, name)
		review := find(e.Reviews, func(r Review) bool { return r.Refusal == refusal })
		switch {
		case review == nil:
			f.lack(nil, "no SubjectAccessReview was made: only some rights are asked about")
		case review.Failed != nil:
			f.lack(review.Failed, "the SubjectAccessReview failed")
		case review.Allowed:
			continue // restored since, or another server decides by itself
		default:
			f.saw(1, review.Request, "SubjectAccessReview: %s may not %s %s in %s", user, refusal.Verb, name, e.Name)
			f.doubt(!strings.HasPrefix(user, "system:"),
				"the groups of user %s are not known: one may give it the right", user)
		}
		if t := e.typeOf(refusal.Group, refusal.Resource); t != nil && t.Count > 0 {
			f.Blocks = t.all()
		}
		findings = append(findings, f)
	}
	return findings
}

// notStuckID is the cause of a namespace that is not terminating: it excludes all others.
const notStuckID = "C29"

// missingRightsID is the cause for missing rights of this user. It is judged last, from what the
// others lack.
const missingRightsID = "C30"

func notStuck(e *Evidence) []Finding {
	var f Finding
	switch {
	case e.Namespace == nil && e.Refused != nil && e.Refused.Code == 404:
		f.Says = "the namespace does not exist"
		f.saw(1, e.Refused.Request, "404: %s", e.Refused.Message)
	case e.Namespace != nil && e.Namespace.Deleted.IsZero():
		f.Says = "its deletion was not requested"
		f.saw(1, e.Namespace.Request, "metadata.deletionTimestamp is not set")
	default:
		return nil
	}
	f.Culprit = Reference{Resource: "namespaces", Name: e.Name}
	return []Finding{f}
}

// missingRights returns a finding with every refusal that keeps a verdict from being certain.
func missingRights(e *Evidence, findings []Finding) []Finding {
	f := Finding{Culprit: Reference{Resource: "namespaces", Name: e.Name}}
	var rights []string
	refused := func(failed *Failure) {
		if failed == nil || failed.Code != 403 || slices.Contains(rights, failed.Right) {
			return
		}
		rights = append(rights, failed.Right)
		f.saw(1, failed.Request, "403: %s", failed.Message)
	}
	if e.Namespace == nil {
		refused(e.Refused)
	}
	refused(e.Discovery.Refused)
	seen := f.Proof
	for _, t := range e.Types {
		if t.Failed != nil && strings.Contains(t.Failed.Message, `User "`) { // else its own server refuses
			refused(t.Failed)
		}
	}
	if more := len(f.Proof) - len(seen) - 1; more > 0 { // one of them shows what the others say
		f.Proof = f.Proof[:len(seen)+1]
		f.Proof[len(seen)].Says += fmt.Sprintf("; and %s like it", words.Count(more, "refusal"))
	}
	for _, finding := range findings {
		for _, failed := range finding.lacks {
			refused(failed)
		}
	}
	if len(rights) == 0 {
		return nil
	}
	f.Says = "this user may not " + strings.Join(rights, ", ")
	cause, _ := Lookup(missingRightsID)
	refusals := f.Proof
	f.Proof = nil
	for _, t := range ConditionTypes { // all that is known of content that may not be read
		if message := e.Namespace.Condition(t); message != "" {
			f.saw(1, e.Namespace.Request, "said by a condition, not verified: %s: %s", short(t), message)
		}
	}
	f.Proof = append(f.Proof, refusals...)
	return []Finding{completed(&Evidence{Cluster: e.Cluster}, cause, f)}
}
