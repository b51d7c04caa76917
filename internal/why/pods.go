package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/internal/words"
	"orrery/restclient/api"
)

const (
	outOfService    = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
	jobTracking     = "batch.kubernetes.io/job-tracking"
	jobController   = "job-controller"
	claimProtection = "kubernetes.io/pvc-protection"
)

// pods is the type of the pods, without any if it is unknown.
func (e *Evidence) pods() *Type {
	return cmp.Or(e.typeOf("", "pods"), &Type{Version: "v1", Resource: "pods"})
}

// late returns the pods that are past their deletion timestamp and have no finalizer.
func (e *Evidence) late() []Pod {
	return filter(e.Pods, func(p Pod) bool { return p.isLate(e) && len(p.Finalizers) == 0 && e.stays(p) })
}

// Ending reports whether a pod on a node is terminating: if the node is lost, it does not end.
func (e *Evidence) Ending() bool {
	return slices.ContainsFunc(e.Pods, func(p Pod) bool { return p.Node != "" && !p.Deleted.IsZero() })
}

// isLate reports whether the pod should have ended.
func (p Pod) isLate(e *Evidence) bool { return !p.Deleted.IsZero() && !p.Deleted.After(e.now()) }

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
	lost := find(e.Pods, func(p Pod) bool {
		node := e.node(p.Node)
		return p.Node != "" && e.stays(p) && (node == nil || node.Ready == "Unknown")
	})
	if lost != nil {
		f.lack(e.Nodes.Failed, "node %s does not answer, does not exist or was not read: see C11", lost.Node)
	}
	return []Finding{f}
}

func jobFinalizer(e *Evidence) []Finding {
	jobs, pods := e.typeOf("batch", "jobs"), e.pods()
	var findings []Finding
	for _, pod := range e.Pods {
		if !pod.isLate(e) || !slices.Contains(pod.Finalizers, jobTracking) || e.moved(pods, pod.Object) {
			continue
		}
		owner := find(pod.Owners, func(o api.OwnerReference) bool {
			return o.Kind == "Job" && strings.HasPrefix(o.APIVersion, "batch/")
		})
		controls := func(o api.OwnerReference) bool { return o.Controller != nil && *o.Controller }
		if owner == nil && slices.ContainsFunc(pod.Owners, controls) {
			continue // the job controller leaves it alone: it takes only a pod without a controller for an orphan
		}
		f := Finding{Culprit: Reference{Resource: "pods", Namespace: e.Name, Name: pod.Name},
			Owner: &Party{Name: jobController, State: NotKnown}}
		f.Says = fmt.Sprintf("pod %s keeps the finalizer of a Job that does not exist", pod.Name)
		f.saw(1, pods.Request, "pod %s has %s", pod.Name, jobTracking)
		switch {
		case owner == nil:
			f.saw(1, pods.Request, "no Job is its owner, and no other controller")
		case jobs == nil || jobs.Failed != nil || jobs.Count > len(jobs.Objects):
			f.lack(nil, "the Jobs could not all be read")
		case slices.ContainsFunc(jobs.Objects, func(o Object) bool { return o.UID == owner.UID }):
			continue
		default:
			f.saw(1, jobs.Request, "no Job has the UID of its owner %s", owner.Name)
		}
		h := Held{Type: pods, Finalizer: jobTracking, Object: pod.Object}
		_, known := e.standstill(pods, pod.Object)
		f.doubt(!known, "%s", e.seenOnce())
		other := e.changedOf(h)
		f.doubt(other != "", "pod %s has lost that finalizer, or has changed: the %s seems to be at work", other,
			jobController)
		seen := Finding{}
		state := e.builtIn(&seen, jobController)
		f.doubt(state == Ready, "kube-controller-manager runs, whose %s removes the finalizer of orphans: something "+
			"may refuse that", jobController)
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
	return !slices.ContainsFunc(e.Types, func(t Type) bool {
		return t.Name() != "pods" && slices.ContainsFunc(t.Objects,
			func(o Object) bool { return o.Deleted.After(e.Namespace.Deleted) })
	})
}

// onlyPodsYet reports whether the controller waits for pods, before it deletes anything else.
func (e *Evidence) onlyPodsYet() bool { return e.pods().Count > 0 && e.podsFirst() }

// byNode groups pods by their node; judge returns the finding for a node, ok false for none.
func (e *Evidence) byNode(late []Pod, judge func(node string, pods []Pod) (f Finding, ok bool)) []Finding {
	nodes := map[string][]Pod{}
	for _, pod := range late {
		nodes[pod.Node] = append(nodes[pod.Node], pod)
	}
	delete(nodes, "")
	var findings []Finding
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if f, ok := judge(name, nodes[name]); ok {
			f.Blocks = e.pods().blocks(len(nodes[name]), nodes[name][0].Object)
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
		late := e.sawLate(&f, pods[0])
		state := "could not be read"
		switch node := e.node(name); {
		case !e.Nodes.Known():
			f.lack(e.Nodes.Failed, "node %s could not be read", name)
		case node == nil:
			f.saw(1, e.Nodes.Request, "node %s does not exist", name)
			f.doubt(late < orphanedWithin,
				"the pod garbage collector deletes the pods of such a node, and may not have come to them")
			state = "does not exist"
		case node.Ready == "True", node.Ready == "": // without the condition it may be starting
			return f, false
		default:
			f.saw(1, e.Nodes.Request, "node %s: Ready=%s since %s", name, node.Ready, clock(node.Since))
			if state = "does not answer"; node.Ready == "False" {
				state = "is not ready"
				f.lack(nil, "the kubelet of %s answers, and may still end its pods: the node's conditions say what it "+
					"lacks", name)
				break
			}
			f.unread(e.Leases.Failed, "whether its kubelet renews its Lease could not be read")
			lease := e.kubelet(name)
			f.doubt(lease != nil && !lease.Expired(e.now()), "its kubelet renews its Lease, and may be back")
			taint := e.kubectl("", "taint nodes %s "+outOfService, name)
			f.Remedies = append(f.Remedies,
				Remedy{Command: taint, When: "only after you have verified that the machine is off"},
				Remedy{Command: taint + "-", When: "when the node is back"},
			)
		}
		f.Says = fmt.Sprintf("%s did not end in time, and node %s %s", words.Count(len(pods), "pod"), name, state)
		return f, true
	})
}

// sawLate adds to a finding that a pod should have ended, and returns how long ago.
func (e *Evidence) sawLate(f *Finding, pod Pod) time.Duration {
	late := e.now().Sub(pod.Deleted)
	f.saw(1, e.pods().Request, "pod %s should have ended at %s, %s ago", pod.Name, clock(pod.Deleted),
		words.Duration(late))
	return late
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
		f.Says = fmt.Sprintf("the kubelet of node %s does not remove pod %s, which has ended", name, pod.Name)
		e.sawLate(&f, pod)
		f.saw(1, e.pods().Request, "none of its containers runs")
		f.saw(1, e.Nodes.Request, "node %s: Ready=True", name)
		f.doubt(e.moved(e.pods(), pod.Object),
			"pod %s has changed between the samples: its kubelet is at work", pod.Name)
		f.unread(e.Leases.Failed, "whether the kubelet of node %s is alive could not be read", name)
		lease := e.kubelet(name)
		f.doubt(e.Leases.Known() && (lease == nil || lease.Expired(e.now())),
			"the Lease of node %s is not renewed: its kubelet may be dead", name)
		return f, true
	})
}

// kubelet returns the Lease of a node, which its kubelet renews; nil if it was not read.
func (e *Evidence) kubelet(node string) *Lease { return e.lease("kube-node-lease", node) }

// lease returns a Lease, nil if it was not read.
func (e *Evidence) lease(namespace, name string) *Lease {
	return find(e.Leases.Items, func(l Lease) bool { return l.Namespace == namespace && l.Name == name })
}
