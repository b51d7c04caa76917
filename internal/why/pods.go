package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"orrery/internal/words"
)

const (
	outOfService    = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
	jobTracking     = "batch.kubernetes.io/job-tracking"
	claimProtection = "kubernetes.io/pvc-protection"
)

// pods is the type of the pods, without any if it is unknown.
func (e *Evidence) pods() *Type {
	return cmp.Or(e.typeOf("", "pods"), &Type{Version: "v1", Resource: "pods"})
}

// late returns the pods that are past their deletion timestamp and have no finalizer.
func (e *Evidence) late() []Pod {
	return filter(e.Pods, func(p Pod) bool {
		return !p.Deleted.IsZero() && !p.Deleted.After(e.now()) && len(p.Finalizers) == 0 && e.stays(p)
	})
}

// Ending reports whether a pod of a node is terminating: if the node is lost, it does not end in
// time.
func (e *Evidence) Ending() bool {
	return slices.ContainsFunc(e.Pods,
		func(p Pod) bool { return !p.Deleted.IsZero() && (p.Node != "" || !p.Deleted.After(e.now())) })
}

// stays reports whether a pod is still there in the second sample, if there is one.
func (e *Evidence) stays(pod Pod) bool {
	if e.Second == nil {
		return true
	}
	second := e.Second.again(e.pods(), pod.Name)
	return second != nil && second.UID == pod.UID || second == nil && e.Second.missed(e.pods())
}

func withinGrace(e *Evidence) []Finding {
	t := e.pods()
	if t.Count == 0 || len(e.Pods) < t.Count {
		return nil
	}
	var last Pod
	for _, pod := range e.Pods {
		if !e.stays(pod) {
			continue
		}
		if !pod.Deleted.After(e.now()) {
			return nil
		}
		if pod.Deleted.After(last.Deleted) {
			last = pod
		}
	}
	if last.Deleted.IsZero() {
		return nil
	}
	f := Finding{Culprit: Reference{Resource: "pods", Namespace: e.Name, Name: last.Name}, Blocks: t.all()}
	f.Says = fmt.Sprintf("%s may run until %s, in %s",
		words.Count(t.Count, "pod"), clock(last.Deleted), words.Duration(last.Deleted.Sub(e.now())))
	f.saw(1, t.Request, "pod %s: deletionTimestamp %s, in %s",
		last.Name, clock(last.Deleted), words.Duration(last.Deleted.Sub(e.now())))
	for _, pod := range e.Pods {
		if pod.Node == "" || !e.stays(pod) {
			continue
		}
		node, lease := e.node(pod.Node), e.kubelet(pod.Node)
		if failed := cmp.Or(e.Nodes.Failed, e.NodeLeases.Failed); failed != nil {
			f.lack(failed, "whether node %s answers could not be read", pod.Node)
			break
		}
		answers := node != nil && node.Ready != "Unknown" && (lease == nil || !lease.Expired(e.now()))
		if answers || !e.Nodes.Known() {
			continue
		}
		f.lack(nil, "node %s does not answer, or does not exist: see C11", pod.Node)
		break
	}
	return []Finding{f}
}

func jobFinalizer(e *Evidence) []Finding {
	jobs, pods := e.typeOf("batch", "jobs"), e.pods()
	var findings []Finding
	for _, pod := range e.Pods {
		if pod.Deleted.IsZero() || pod.Deleted.After(e.now()) || !slices.Contains(pod.Finalizers, jobTracking) ||
			!e.stays(pod) {
			continue
		}
		owner := slices.IndexFunc(pod.Owners,
			func(o Owner) bool { return o.Kind == "Job" && (o.Group == "batch" || o.Group == "") })
		if owner < 0 && slices.ContainsFunc(pod.Owners, func(o Owner) bool { return o.Controls }) {
			continue // the job controller leaves it alone: it takes only a pod without a controller for an orphan
		}
		f := Finding{Culprit: Reference{Resource: "pods", Namespace: e.Name, Name: pod.Name},
			Owner: &Party{Name: "job-controller", State: NotKnown}}
		f.Says = fmt.Sprintf("pod %s keeps the finalizer of a Job that does not exist", pod.Name)
		f.saw(1, pods.Request, "pod %s has %s", pod.Name, jobTracking)
		switch {
		case owner < 0:
			f.saw(1, pods.Request, "no Job is its owner, and no other controller")
		case jobs == nil || jobs.Failed != nil || jobs.Count > len(jobs.Objects):
			f.lack(nil, "the Jobs could not all be read")
		case slices.ContainsFunc(jobs.Objects, func(o Object) bool { return o.UID == pod.Owners[owner].UID }):
			continue
		default:
			f.saw(1, jobs.Request, "no Job has the UID of its owner %s", pod.Owners[owner].Name)
		}
		h := Held{Type: pods, Finalizer: jobTracking, Object: pod.Object}
		still, known := e.standstill(pods, pod.Object)
		if known && !still {
			continue
		}
		f.doubt(!known, "%s", e.seenOnce())
		other := e.changedOf(h)
		f.doubt(other != "",
			"pod %s has lost that finalizer, or has changed: the job-controller seems to be at work", other)
		seen := Finding{}
		state := e.builtIn(&seen, "job-controller")
		if state != Stopped {
			f.lackJobController(e, state)
		}
		if state == Stopped || len(seen.lacks) > 0 {
			f.lackToo(seen)
		}
		if len(f.Missing) == 0 && state == Stopped {
			f.Owner.State = Stopped
			f.Proof = append(f.Proof, seen.Proof...)
		}
		if len(f.Missing) == 0 {
			f.offerRelease(e, h, "", state == Stopped)
		}
		findings = append(findings, f)
	}
	return findings
}

// lackJobController adds to a finding about an orphan of a Job that the job controller may run, and
// then something refuses its update of the pod.
func (f *Finding) lackJobController(e *Evidence, state State) {
	decides := e.decidesOnPods("UPDATE")
	failed := e.admissionUnread()
	switch {
	case state == Ready:
		f.lack(nil,
			"kube-controller-manager runs, whose job-controller removes the finalizer of orphans: something "+
				"may refuse that")
	case decides != "":
		f.lack(nil, "%s decides on updates of pods, and may refuse that of the job-controller", decides)
	case failed != nil:
		f.lack(failed, "whether a webhook or a policy decides on updates of pods could not be read")
	}
}

func protectedClaim(e *Evidence) []Finding {
	t := e.typeOf("", "persistentvolumeclaims")
	if t == nil {
		return nil
	}
	var findings []Finding
	for _, claim := range t.Objects {
		if claim.Deleted.IsZero() || !slices.Contains(claim.Finalizers, claimProtection) || e.moved(t, claim) {
			continue
		}
		f := Finding{Blocks: t.blocks(1, claim)}
		f.saw(1, t.Request, "claim %s is terminating and has %s", claim.Name, claimProtection)
		user := slices.IndexFunc(e.Pods,
			func(p Pod) bool { return p.Node != "" && slices.Contains(p.Claims, claim.Name) && e.stays(p) })
		if user < 0 {
			continue // its controller is slow, or off: C04
		}
		pod := e.Pods[user]
		f.Culprit = Reference{Resource: "pods", Namespace: e.Name, Name: pod.Name}
		f.Says = fmt.Sprintf("pod %s, on node %s, mounts the claim %s", pod.Name, pod.Node, claim.Name)
		f.saw(1, e.pods().Request, "pod %s on node %s mounts it", pod.Name, pod.Node)
		end := pod.Deleted
		if end.IsZero() && e.age() < backOffCap || !end.IsZero() && e.now().Sub(end) < tearDown {
			f.Certainty = Later // the pod may still be deleted, run, or be torn down
		}
		findings = append(findings, f)
	}
	return findings
}

// podsFirst reports whether the controller has deleted nothing but pods so far.
func (e *Evidence) podsFirst() bool {
	return !e.isBefore(33) && !slices.ContainsFunc(e.Types, func(t Type) bool {
		return t.Name() != "pods" && slices.ContainsFunc(t.Objects,
			func(o Object) bool { return o.Deleted.After(e.Namespace.Deleted) })
	})
}

// onlyPodsYet reports whether the controller waits for pods, before it deletes anything else.
func (e *Evidence) onlyPodsYet() bool { return e.pods().Count > 0 && e.podsFirst() }

// This file has the pods that end late because of their node: C11 and C12.

// byNode groups pods by their node; judge returns the finding for a node, ok false for none.
func (e *Evidence) byNode(late []Pod, judge func(node string, pods []Pod) (f Finding, ok bool)) []Finding {
	nodes, objects := map[string][]Pod{}, map[string][]Object{}
	for _, pod := range late {
		nodes[pod.Node] = append(nodes[pod.Node], pod)
		objects[pod.Node] = append(objects[pod.Node], pod.Object)
	}
	delete(nodes, "")
	var findings []Finding
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if f, ok := judge(name, nodes[name]); ok {
			f.Blocks = e.pods().blocks(len(nodes[name]), objects[name]...)
			findings = append(findings, f)
		}
	}
	return findings
}

// node returns a node, nil if it does not exist.
func (e *Evidence) node(name string) *Node {
	return find(e.Nodes.Items, func(n Node) bool { return n.Name == name })
}

func onLostNode(e *Evidence) []Finding {
	return e.byNode(e.late(), func(name string, pods []Pod) (Finding, bool) {
		f := Finding{Culprit: Reference{Resource: "nodes", Name: name}}
		stay := words.Count(len(pods), "pod")
		f.saw(1, e.pods().Request, "pod %s should have ended at %s, %s ago",
			pods[0].Name, clock(pods[0].Deleted), words.Duration(e.now().Sub(pods[0].Deleted)))
		node := e.node(name)
		switch {
		case !e.Nodes.Known():
			f.lack(e.Nodes.Failed, "node %s could not be read", name)
			f.Says = fmt.Sprintf("%s on node %s did not end in time", stay, name)
		case node == nil:
			f.saw(1, e.Nodes.Request, "node %s does not exist", name)
			f.doubt(e.now().Sub(pods[0].Deleted) < orphanedWithin,
				"the pod garbage collector deletes the pods of such a node, and may not have come to them")
			f.lackDeletionsOfPods(e, "pod garbage collector")
			f.Says = fmt.Sprintf("%s cannot end, because node %s is gone", stay, name)
		case node.Ready == "True", node.Ready == "": // without the condition it may be starting
			return f, false
		case node.Ready == "False":
			f.saw(1, e.Nodes.Request, "node %s: Ready=False since %s", name, clock(node.Since))
			f.Says = fmt.Sprintf("%s did not end in time on node %s, which is not ready", stay, name)
			f.lack(nil,
				"the kubelet of %s answers, and may still end its pods: the node's conditions say what it lacks", name)
		default:
			taint := e.kubectl("", "taint nodes %s "+outOfService, name)
			f.saw(1, e.Nodes.Request, "node %s: Ready=%s since %s", name, node.Ready, clock(node.Since))
			f.Says = fmt.Sprintf("%s cannot end, because node %s does not answer", stay, name)
			f.unread(e.NodeLeases.Failed, "whether its kubelet renews its Lease could not be read")
			lease := e.kubelet(name)
			f.doubt(lease != nil && !lease.Expired(e.now()), "its kubelet renews its Lease, and may be back")
			f.Remedies = append(f.Remedies,
				Remedy{Command: taint, When: "only after you have verified that the machine is off"},
				Remedy{Command: taint + "-", When: "when the node is back"},
			)
		}
		return f, true
	})
}

// overdue describes a pod past its deletionTimestamp that a Ready node still runs, for no reason
// that was seen. It returns "" for none.
func (e *Evidence) overdue() string {
	for _, pod := range e.late() {
		node := e.node(pod.Node)
		if node == nil || node.Ready != "True" || e.now().Sub(pod.Deleted) < tearDown {
			continue
		}
		return fmt.Sprintf("pod %s should have ended %s ago, and node %s, which is Ready, still runs its container "+
			"%s: read the kubelet's log there",
			pod.Name, words.Duration(e.now().Sub(pod.Deleted)), pod.Node, listed(pod.Running))
	}
	return ""
}

// orphanedWithin is how long the pod garbage collector may take for the pods of a node that is
// gone.
const orphanedWithin = 2 * time.Minute

// tearDown is how long a kubelet may take for a pod after its grace period.
const tearDown = time.Minute

func notTornDown(e *Evidence) []Finding {
	return e.byNode(e.late(), func(name string, pods []Pod) (Finding, bool) {
		node := e.node(name)
		if node == nil || node.Ready != "True" {
			return Finding{}, false
		}
		overdue := slices.DeleteFunc(slices.Clone(pods), func(p Pod) bool {
			return len(p.Running) > 0 || e.now().Sub(p.Deleted) < tearDown
		})
		if len(overdue) == 0 {
			return Finding{}, false
		}
		pod := overdue[0]
		f := Finding{Culprit: Reference{Resource: "pods", Namespace: e.Name, Name: pod.Name}}
		f.Says = fmt.Sprintf("the kubelet of node %s cannot tear down pod %s", name, pod.Name)
		f.saw(1, e.pods().Request, "pod %s should have ended at %s, %s ago",
			pod.Name, clock(pod.Deleted), words.Duration(e.now().Sub(pod.Deleted)))
		f.saw(1, e.pods().Request, "none of its containers runs")
		f.saw(1, e.Nodes.Request, "node %s: Ready=True", name)
		f.lackDeletionsOfPods(e, "kubelet")
		f.doubt(e.moved(e.pods(), pod.Object),
			"pod %s has changed between the samples: its kubelet is at work", pod.Name)
		f.unread(e.NodeLeases.Failed, "whether the kubelet of node %s is alive could not be read", name)
		lease := e.kubelet(name)
		f.doubt(lease == nil && e.NodeLeases.Known() || lease != nil && lease.Expired(e.now()),
			"the Lease of node %s is not renewed: its kubelet may be dead", name)
		return f, true
	})
}

// kubelet returns the Lease of a node, which its kubelet renews; nil if it was not read.
func (e *Evidence) kubelet(node string) *Lease {
	return find(e.NodeLeases.Items, func(l Lease) bool { return l.Name == node })
}

// lackDeletionsOfPods adds to a finding about a pod that a webhook or a policy may refuse the
// deletion with which it ends.
func (f *Finding) lackDeletionsOfPods(e *Evidence, by string) {
	obstacle := e.decidesOnPods("DELETE")
	f.doubt(obstacle != "", "%s decides on deletions of pods, also on those of the %s", obstacle, by)
	f.unread(e.admissionUnread(), "whether a webhook or a policy decides on deletions of pods could not be read")
}

// decidesOnPods returns a webhook or a policy that selects an operation on pods, "" for none.
func (e *Evidence) decidesOnPods(operation string) string {
	for _, hook := range e.Webhooks.Items {
		if selects(hook.Rules, operation, e.pods()) && hook.NamespaceOnly.matches(e.labels()) {
			return "webhook " + hook.Name
		}
	}
	for _, policy := range e.Policies.Items {
		if selects(policy.Rules, operation, e.pods()) {
			return "policy " + policy.Name
		}
	}
	return ""
}

// admissionUnread is why the webhooks or the policies were not read, nil if they were.
func (e *Evidence) admissionUnread() *Failure {
	return cmp.Or(e.Webhooks.unread(), e.Policies.unread())
}
