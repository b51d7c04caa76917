package why

import (
	"fmt"
	"slices"
	"time"
)

// whilePodsRemain are the causes that need a pass of the controller over something else than pods,
// which go first.
var whilePodsRemain = []string{"C07", "C08", "C21", "C22", "C27"}

// whileLatePodsRemain are those that a pod which is past its grace period hides as well.
var whileLatePodsRemain = append(whilePodsRemain[:len(whilePodsRemain):len(whilePodsRemain)], "C10")

func podCauses() []Cause {
	return []Cause{{
		ID: "C10", Title: "pods within their grace period", Waits: true,
		Lesson: "A pod gets time to end: its deletionTimestamp is the moment until which it may run. The controller deletes pods " +
			"first and touches nothing else until they are gone.",
		Proof: "Pods remain, and the deletionTimestamp of each, which includes its grace period, is in the future.",
		Do:    []string{"wait until the printed time"},
		DoNot: "force-delete the pods: their containers would be killed before they have ended their work",
		Hides: whilePodsRemain,
		judge: withinGrace,
	}, {
		ID: "C11", Title: "a pod on a node that is lost", Issues: []int{49798, 71590},
		Lesson: "Only the kubelet of its node can say that a pod has ended. If the node is gone or does not answer, the pod stays " +
			"terminating, because its containers may still run.",
		Proof: "A pod without finalizers is past its deletionTimestamp, and its node does not exist, or does not answer " +
			"(Ready=Unknown). With Ready=False the kubelet answers, and the cause is possible. For a pod with finalizers it acts " +
			"later, when they are removed.",
		Do: []string{
			"bring the node back",
			"only after you have verified that the machine is off: kubectl taint nodes NODE " + outOfService + ", or delete the " +
				"Node if it will not come back. Remove the taint when the node is back: the same command with a trailing -",
		},
		DoNot: "force-delete the pod: two copies may run, and write to the same volume",
		Hides: whileLatePodsRemain,
		judge: onLostNode,
	}, {
		ID: "C12", Title: "the kubelet cannot tear a pod down",
		Lesson: "A pod whose containers have ended still has volumes and a network. If one of them cannot be removed, the kubelet " +
			"keeps trying, and the pod stays.",
		Proof: "A pod without finalizers is past its deletionTimestamp, its node is Ready and renews its Lease, and none of its " +
			"containers runs. While one runs and a volume is attached to the node, the cause is possible.",
		Do:    []string{"read the kubelet's log on that node; repair the CSI driver or the mount"},
		DoNot: "force-delete the pod: the mount stays on the node",
		Hides: whileLatePodsRemain,
		judge: notTornDown,
	}, {
		ID: "C13", Title: "a job's finalizer is left over", Issues: []int{108645, 109429},
		Lesson: "The job controller counts pods by a finalizer on each. If the Job is gone, or was deleted with its pods orphaned, " +
			"the finalizer stays.",
		Proof: "A terminating pod has batch.kubernetes.io/job-tracking, and no Job with the UID of its owner exists.",
		Do: []string{
			"run the job controller: it removes the finalizer of orphans",
			"⚠ as a last resort remove that finalizer by a JSON patch",
		},
		DoNot: "force-delete the pod: a finalizer outlives that",
		Hides: whileLatePodsRemain,
		judge: jobFinalizer,
	}, {
		ID: "C14", Title: "a claim is protected",
		Lesson: "A PersistentVolumeClaim that a pod uses is kept by a finalizer until no scheduled pod mounts it, finished or not.",
		Proof: "A terminating claim has kubernetes.io/pvc-protection, and a pod on a node mounts it; or none does, and the " +
			"controller that removes the finalizer is off.",
		Do: []string{
			"repair what keeps the pod: another finding of the report, such as C11, names it",
			"start the persistentvolumeclaim-protection-controller",
		},
		DoNot: "remove the finalizer before the pod is gone: it may lose data",
		Hides: whileLatePodsRemain,
		judge: protectedClaim,
	}, {
		ID: "C24", Title: "a pod's finalizer stops everything else",
		Lesson: "Since Kubernetes 1.33 nothing but pods is deleted while there are pods. A finalizer on a pod whose owner is gone, " +
			"or waits for another object of the namespace, stops the whole deletion; kube-controller-manager's conditions say " +
			"meanwhile that all content was removed.",
		Proof: "Since the deletion of the namespace nothing but pods was deleted, a pod has a finalizer and is unchanged in two " +
			"samples, and its owner is gone as in C04.",
		Do: []string{
			"bring the finalizer's owner back, or remove what it waits for",
			"⚠ last resort: remove this one finalizer from the pod",
		},
		DoNot: "trust ContentRemaining and FinalizersRemaining of kube-controller-manager: it sets both to False while it waits for pods",
		Hides: whileLatePodsRemain,
		judge: podFinalizers,
	}}
}

const (
	outOfService    = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
	jobTracking     = "batch.kubernetes.io/job-tracking"
	claimProtection = "kubernetes.io/pvc-protection"
)

// pods is the type of the pods; the zero Type if it is unknown.
func (e *Evidence) pods() Type {
	if t := e.typeOf("", "pods"); t != nil {
		return *t
	}
	return Type{Version: "v1", Resource: "pods"}
}

// pastEnd returns the pods that are past their deletion timestamp.
func (e *Evidence) pastEnd() (pods []Pod) {
	for _, pod := range e.Pods {
		if !pod.Deleted.IsZero() && !pod.Deleted.After(e.now()) && e.stays(pod) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// late returns the pods that are past their deletion timestamp and have no finalizer.
func (e *Evidence) late() []Pod { return slices.DeleteFunc(e.pastEnd(), Pod.isHeld) }

func (p Pod) isHeld() bool { return len(p.Finalizers) > 0 }

// Late reports whether a pod has outlived its grace period. The collector reads the node of such a
// pod.
func (e *Evidence) Late() bool {
	return slices.ContainsFunc(e.Pods, func(p Pod) bool { return !p.Deleted.IsZero() && !p.Deleted.After(e.At) })
}

// Ending reports whether a pod of a node is terminating: if the node is lost, it does not end in
// time.
func (e *Evidence) Ending() bool {
	return slices.ContainsFunc(e.Pods, func(p Pod) bool { return !p.Deleted.IsZero() && (p.Node != "" || !p.Deleted.After(e.At)) })
}

// stays reports whether a pod is still there in the second sample, if there is one.
func (e *Evidence) stays(pod Pod) bool {
	t := e.typeOf("", "pods")
	if e.Second == nil || t == nil {
		return true
	}
	second := e.Second.again(t, pod.Name)
	return second != nil && second.UID == pod.UID || second == nil && e.Second.missed(t)
}

func withinGrace(e *Evidence) []Finding {
	t := e.typeOf("", "pods")
	if t == nil || t.Count == 0 || len(e.Pods) < t.Count {
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
	f := Finding{Culprit: Reference{Resource: "pods", Namespace: e.Name, Name: last.Name}, Blocks: []Blocked{t.blocked()}}
	f.Says = fmt.Sprintf("%s may run until %s, in %s", counted(t.Count, "pod"), clock(last.Deleted), duration(last.Deleted.Sub(e.now())))
	f.saw(1, t.Request, "pod %s: deletionTimestamp %s, in %s", last.Name, clock(last.Deleted), duration(last.Deleted.Sub(e.now())))
	f.Do = []string{fmt.Sprintf("wait until %s", clock(last.Deleted))}
	for _, pod := range e.Pods {
		if node := e.node(pod.Node); pod.Node != "" && e.stays(pod) && node != nil && node.Ready == "Unknown" {
			f.lack(nil, "node %s does not answer: pod %s will not end before it does", pod.Node, pod.Name)
			break
		}
	}
	return []Finding{f}
}

// byNode groups pods by their node; judge returns the finding for a node, ok false for none.
func byNode(late []Pod, judge func(node string, pods []Pod) (f Finding, ok bool)) []Finding {
	nodes := map[string][]Pod{}
	var names []string
	for _, pod := range late {
		if pod.Node == "" {
			continue
		}
		if nodes[pod.Node] == nil {
			names = append(names, pod.Node)
		}
		nodes[pod.Node] = append(nodes[pod.Node], pod)
	}
	slices.Sort(names)
	var findings []Finding
	for _, name := range names {
		f, ok := judge(name, nodes[name])
		if !ok {
			continue
		}
		block := Blocked{Resource: "pods", Count: len(nodes[name])}
		for _, pod := range nodes[name][:min(5, len(nodes[name]))] {
			block.Examples = append(block.Examples, pod.Name)
		}
		f.Blocks = []Blocked{block}
		findings = append(findings, f)
	}
	return findings
}

// node returns a node, nil if it does not exist.
func (e *Evidence) node(name string) *Node {
	at := slices.IndexFunc(e.Nodes.Items, func(n Node) bool { return n.Name == name })
	if at < 0 {
		return nil
	}
	return &e.Nodes.Items[at]
}

func onLostNode(e *Evidence) []Finding {
	late := e.late()
	held := slices.DeleteFunc(e.pastEnd(), func(p Pod) bool {
		return !p.isHeld() || !e.Nodes.Known() || slices.ContainsFunc(late, func(other Pod) bool { return other.Node == p.Node })
	})
	return byNode(append(late, held...), func(name string, pods []Pod) (Finding, bool) {
		f := Finding{Culprit: Reference{Resource: "nodes", Name: name}}
		if pods[0].isHeld() {
			f.Certainty = Later
		}
		f.saw(1, e.pods().Request, "pod %s should have ended at %s, %s ago",
			pods[0].Name, clock(pods[0].Deleted), duration(e.now().Sub(pods[0].Deleted)))
		node := e.node(name)
		switch {
		case !e.Nodes.Known():
			f.lack(e.Nodes.Failed, "node %s could not be read", name)
			f.Says = fmt.Sprintf("%s on node %s did not end in time", counted(len(pods), "pod"), name)
		case node == nil:
			f.saw(1, e.Nodes.Request, "node %s does not exist", name)
			if e.now().Sub(pods[0].Deleted) < orphanedWithin {
				f.lack(nil, "the pod garbage collector deletes the pods of such a node, and may not have come to them")
			}
			f.Do = []string{
				"see whether the pod-garbage-collector-controller of kube-controller-manager runs: it deletes the pods of nodes that do not exist",
				"bring the node back under its name",
			}
			f.Says = fmt.Sprintf("%s cannot end, because node %s is gone", counted(len(pods), "pod"), name)
		case node.Ready == "True":
			return f, false
		case node.Ready == "False":
			f.saw(1, e.Nodes.Request, "node %s: Ready=False since %s", name, clock(node.Since))
			f.Says = fmt.Sprintf("%s did not end in time on node %s, which is not ready", counted(len(pods), "pod"), name)
			f.lack(nil, "the kubelet of %s answers, and may still end its pods: the node's conditions say what it lacks", name)
			f.Do = []string{"repair what the node's conditions name: kubectl describe node " + Quoted(name)}
		default:
			taint := kubectl("", "taint nodes", Quoted(name), outOfService)
			f.saw(1, e.Nodes.Request, "node %s: Ready=%s since %s", name, orElse(node.Ready, "Unknown"), clock(node.Since))
			f.Says = fmt.Sprintf("%s cannot end, because node %s is not ready", counted(len(pods), "pod"), name)
			f.Do = []string{
				"bring the node back",
				"only after you have verified that the machine is off: " + taint + ", or delete the Node if it will not come back. " +
					"Remove the taint when the node is back: the same command with a trailing -",
			}
			f.Remedies = append(f.Remedies,
				Remedy{Command: taint, When: "only after you have verified that the machine is off"},
				Remedy{Command: taint + "-", When: "when the node is back"},
			)
		}
		return f, true
	})
}

// overdue describes a pod that should have ended, whose node is Ready and still runs it: why was
// not seen. It returns "" for none.
func (e *Evidence) overdue() string {
	for _, pod := range e.late() {
		node := e.node(pod.Node)
		if node == nil || node.Ready != "True" || e.now().Sub(pod.Deleted) < tearDown {
			continue
		}
		return fmt.Sprintf("pod %s should have ended %s ago, and node %s, which is Ready, still runs its container %s: read the kubelet's log there",
			pod.Name, duration(e.now().Sub(pod.Deleted)), pod.Node, listed(pod.Running))
	}
	return ""
}

// orphanedWithin is how long the pod garbage collector may take for the pods of a node that is
// gone.
const orphanedWithin = 2 * time.Minute

// tearDown is how long a kubelet may take for a pod after its grace period.
const tearDown = 30 * time.Second

func notTornDown(e *Evidence) []Finding {
	return byNode(e.late(), func(name string, pods []Pod) (Finding, bool) {
		node := e.node(name)
		if node == nil || node.Ready != "True" {
			return Finding{}, false
		}
		overdue := slices.DeleteFunc(slices.Clone(pods), func(p Pod) bool {
			return len(p.Running) > 0 && e.attached(name, p) == nil || e.now().Sub(p.Deleted) < tearDown
		})
		if len(overdue) == 0 {
			return Finding{}, false
		}
		pod := overdue[max(0, slices.IndexFunc(overdue, func(p Pod) bool { return len(p.Running) == 0 }))]
		f := Finding{Culprit: Reference{Resource: "pods", Namespace: e.Name, Name: pod.Name}}
		f.Says = fmt.Sprintf("the kubelet of node %s cannot tear down pod %s", name, pod.Name)
		f.saw(1, e.pods().Request, "pod %s should have ended at %s, %s ago", pod.Name, clock(pod.Deleted), duration(e.now().Sub(pod.Deleted)))
		if len(pod.Running) == 0 {
			f.saw(1, e.pods().Request, "none of its containers runs")
		} else {
			volume := e.attached(name, pod)
			f.saw(1, e.Volumes.Request, "VolumeAttachment %s: a volume is attached to node %s", volume.Name, name)
			f.lack(nil, "container %s still runs, and whether the volume is one of the pod's was not read", listed(pod.Running))
		}
		f.saw(1, e.Nodes.Request, "node %s: Ready=True", name)
		if obstacle := e.decidesOnPods(); obstacle != "" {
			f.lack(nil, "%s decides on deletions of pods, also on the kubelet's", obstacle)
		}
		for _, lease := range e.NodeLeases.Items {
			if lease.Name == name && lease.Expired(e.At) {
				f.lack(nil, "the Lease of node %s was last renewed %s ago: its kubelet may be dead", name, duration(e.At.Sub(lease.Renewed)))
			}
		}
		return f, true
	})
}

// decidesOnPods returns a webhook or a policy that selects deletions of pods, "" for none.
func (e *Evidence) decidesOnPods() string {
	selects := func(r Rule) bool { return r.matchesDelete(e.pods()) }
	for _, hook := range e.Webhooks.Items {
		if slices.ContainsFunc(hook.Rules, selects) && hook.NamespaceOnly.matches(e.Namespace.Labels) {
			return "webhook " + hook.Name
		}
	}
	for _, policy := range e.Policies.Items {
		if slices.ContainsFunc(policy.Rules, selects) {
			return "policy " + policy.Name
		}
	}
	return ""
}

// attached returns a volume that is attached to the node of a pod with claims, nil for none. It may
// be that of another pod.
func (e *Evidence) attached(node string, pod Pod) *Attachment {
	at := slices.IndexFunc(e.Volumes.Items, func(a Attachment) bool { return a.Node == node && a.Attached })
	if at < 0 || len(pod.Claims) == 0 {
		return nil
	}
	return &e.Volumes.Items[at]
}

func jobFinalizer(e *Evidence) []Finding {
	jobs, pods := e.typeOf("batch", "jobs"), e.typeOf("", "pods")
	if pods == nil {
		return nil
	}
	var findings []Finding
	for _, pod := range e.Pods {
		if pod.Deleted.IsZero() || pod.Deleted.After(e.now()) || !slices.Contains(pod.Finalizers, jobTracking) || !e.stays(pod) {
			continue
		}
		owner := slices.IndexFunc(pod.Owners, func(o Owner) bool { return o.Kind == "Job" && (o.Group == "batch" || o.Group == "") })
		f := Finding{Culprit: Reference{Resource: "pods", Namespace: e.Name, Name: pod.Name}, Owner: &Party{Name: "job-controller", Verdict: "unknown"}}
		f.Says = fmt.Sprintf("pod %s keeps the finalizer of a Job that does not exist", pod.Name)
		f.saw(1, pods.Request, "pod %s has %s", pod.Name, jobTracking)
		switch {
		case owner < 0 && len(pod.Owners) > 0:
			f.Says = fmt.Sprintf("pod %s has the finalizer of a Job's pods, and belongs to %s %s", pod.Name, pod.Owners[0].Kind, pod.Owners[0].Name)
			f.saw(1, pods.Request, "its owner is %s %s: the job controller leaves such a pod alone", pod.Owners[0].Kind, pod.Owners[0].Name)
			f.Do = []string{"⚠ remove that finalizer by a JSON patch: no controller does"}
		case owner < 0:
			f.saw(1, pods.Request, "it has no owner")
		case jobs == nil || jobs.Failed != nil || jobs.Count > len(jobs.Objects):
			var failed *Failure
			if jobs != nil {
				failed = jobs.Failed
			}
			f.lack(failed, "the Jobs could not all be read")
		case slices.ContainsFunc(jobs.Objects, func(o Object) bool { return o.UID == pod.Owners[owner].UID }):
			continue
		default:
			f.saw(1, jobs.Request, "no Job has the UID of its owner %s", pod.Owners[owner].Name)
		}
		still, known := e.standstill(pods, pod.Object)
		if known && !still {
			continue
		}
		if seen := (Finding{}); known && e.builtIn(&seen, "job-controller") == ownerGone {
			f.Owner.Verdict = ownerGone
			f.Proof = append(f.Proof, seen.Proof...)
			f.offerRelease(e, Held{pods, jobTracking, pod.Object})
		} else if known && len(f.Missing) == 0 {
			f.printRelease(e, Held{pods, jobTracking, pod.Object})
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
		if claim.Deleted.IsZero() || !slices.Contains(claim.Finalizers, claimProtection) {
			continue
		}
		f := Finding{Blocks: []Blocked{{Resource: t.Name(), Count: 1, Examples: []string{claim.Name}}}}
		f.saw(1, t.Request, "claim %s is terminating and has %s", claim.Name, claimProtection)
		user := slices.IndexFunc(e.Pods, func(p Pod) bool { return p.Node != "" && slices.Contains(p.Claims, claim.Name) && e.stays(p) })
		pods := e.pods()
		switch {
		case user >= 0:
			f.Culprit = Reference{Resource: "pods", Namespace: e.Name, Name: e.Pods[user].Name}
			f.Says = fmt.Sprintf("pod %s, on node %s, mounts the claim %s", e.Pods[user].Name, e.Pods[user].Node, claim.Name)
			f.saw(1, pods.Request, "pod %s on node %s mounts it", e.Pods[user].Name, e.Pods[user].Node)
			f.Do = []string{"repair what keeps pod " + e.Pods[user].Name + ": another finding of this report, such as C11, names it"}
			if e.Pods[user].Deleted.After(e.now()) {
				f.Certainty = Later // the pod may still run
			}
		case pods.Request == "" || pods.Unread():
			f.Culprit = Reference{Resource: t.Name(), Namespace: e.Name, Name: claim.Name}
			f.Says = fmt.Sprintf("the claim %s is protected", claim.Name)
			f.lack(nil, "the pods could not be read")
		default:
			if !controllerOff(e, &f, claimController) {
				continue // free only for a moment, or its controller is slow
			}
			f.Says = fmt.Sprintf("the controller that removes the protection of the claim %s is off", claim.Name)
			f.Do = []string{"start kube-controller-manager with its " + claimController}
		}
		findings = append(findings, f)
	}
	return findings
}

// podsFirst reports whether the controller has deleted nothing but pods so far.
func (e *Evidence) podsFirst() bool {
	return e.Namespace != nil && !slices.ContainsFunc(e.Types, func(t Type) bool {
		return t.Name() != "pods" && slices.ContainsFunc(t.Objects, func(o Object) bool { return o.Deleted.After(e.Namespace.Deleted) })
	})
}

func podFinalizers(e *Evidence) []Finding {
	var findings []Finding
	if !e.podsFirst() {
		return nil // then it is one of C04
	}
	for _, h := range e.Held() {
		if h.Type.Name() != "pods" || h.hasOwnCause() || h.Object.Deleted.After(e.now()) {
			continue
		}
		f := heldFinding(e, h)
		owner := e.judgeOwner(&f, h)
		if owner == ownerSlow {
			continue
		}
		if stopped := e.stoppedOwner(h); stopped != nil {
			stopped.bringBack(&f)
		}
		if owner == ownerGone {
			f.offerRelease(e, h)
		}
		f.Says = fmt.Sprintf("pod %s keeps the finalizer %s, and nothing else is deleted before it", h.Object.Name, h.Finalizer)
		f.saw(1, "", "since the deletion of the namespace nothing but pods was deleted")
		findings = append(findings, f)
	}
	return findings
}

// onlyPodsYet reports whether the controller waits for pods, before it deletes anything else.
func (e *Evidence) onlyPodsYet() bool { return e.pods().Count > 0 && e.podsFirst() }
