package why

import (
	"cmp"
	"fmt"
	"slices"
)

// whilePodsRemain are the causes that need a pass of the controller over something else than pods,
// which go first.
var whilePodsRemain = []string{"C07", "C08", "C21", "C22", "C27"}

// whileLatePodsRemain are those that a pod which is past its grace period hides as well.
var whileLatePodsRemain = append(whilePodsRemain[:len(whilePodsRemain):len(whilePodsRemain)], "C10")

func podCauses() []Cause {
	return []Cause{{
		ID: "C10", Title: "pods within their grace period", Waits: true,
		Lesson: "A pod gets time to end: its deletionTimestamp is the moment until which it may run. Since Kubernetes 1.33 the " +
			"controller deletes pods first and touches nothing else until they are gone.",
		Proof: "Pods remain, and the deletionTimestamp of each, which includes its grace period, is in the future. If the node of one does not " +
			"answer, does not exist or may not be read, that is possible only: see C11.",
		Do:    []string{"wait until the printed time"},
		DoNot: "force-delete the pods: their containers would be killed before they have ended their work",
		Hides: whilePodsRemain,
		judge: withinGrace,
	}, {
		ID: "C11", Title: "a pod on a node that is lost", Issues: []int{49798, 71590},
		Lesson: "Only the kubelet of its node can say that a pod has ended. If the node does not answer, the pod stays terminating, because " +
			"its containers may still run. If the Node object is deleted, the pod garbage collector of kube-controller-manager deletes its pods.",
		Proof: "A pod without finalizers is past its deletionTimestamp, and its node does not exist, or does not answer " +
			"(Ready=Unknown, and its Lease has expired). With Ready=False the kubelet answers, and the cause is possible; so it is if the node does not exist and a webhook or " +
			"policy decides on deletions of pods. For a pod with finalizers it acts " +
			"later, when they are removed.",
		Do: []string{
			"bring the node back; if it does not exist, see whether the pod-garbage-collector-controller runs",
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
		Proof: "A pod without finalizers is past its deletionTimestamp and does not change, its node is Ready and renews its Lease, and none of its " +
			"containers runs. While one runs and a volume is attached to the node, the cause is possible.",
		Do:    []string{"read the kubelet's log on that node; repair the CSI driver or the mount"},
		DoNot: "force-delete the pod: the mount stays on the node",
		Hides: whileLatePodsRemain,
		judge: notTornDown,
	}, {
		ID: "C13", Title: "a job's finalizer is left over", Issues: []int{108645, 109429},
		Lesson: "The job controller counts pods by a finalizer on each. If the Job is gone, or was deleted with its pods orphaned, " +
			"the finalizer stays.",
		Proof: "A pod past its deletionTimestamp has batch.kubernetes.io/job-tracking and does not change, and no Job is its owner, or none with " +
			"that UID exists. One that another controller owns is left alone by the job controller, too. While kube-controller-manager runs with that controller, " +
			"or a webhook or policy decides on updates of pods, something else may refuse its update: that is possible.",
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
		Proof: "A terminating claim has kubernetes.io/pvc-protection, and a pod on a node mounts it, a minute after its grace period or after the " +
			"deletion of the namespace; or none does, and the controller that removes the finalizer is off.",
		Do: []string{
			"repair what keeps the pod: another finding of the report, such as C11, names it",
			"start the persistentvolumeclaim-protection-controller",
		},
		DoNot: "remove the finalizer before the pod is gone: it may lose data",
		Hides: whileLatePodsRemain,
		judge: protectedClaim,
	}, {
		ID: "C24", Title: "a pod's finalizer stops everything else",
		Lesson: "Since Kubernetes 1.33 nothing but pods is deleted while there are pods. A finalizer on a pod whose owner does not work, " +
			"or waits for another object of the namespace, stops the whole deletion; kube-controller-manager's conditions say " +
			"meanwhile that all content was removed.",
		Proof: "The server is Kubernetes 1.33 or newer, since the deletion of the namespace nothing but pods was deleted, a pod has a finalizer and is unchanged in two " +
			"samples, and what was seen of its owner is as in C04.",
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
	return slices.ContainsFunc(e.Pods, func(p Pod) bool { return !p.Deleted.IsZero() && !p.Deleted.After(e.now()) })
}

// Ending reports whether a pod of a node is terminating: if the node is lost, it does not end in
// time.
func (e *Evidence) Ending() bool {
	return slices.ContainsFunc(e.Pods, func(p Pod) bool { return !p.Deleted.IsZero() && (p.Node != "" || !p.Deleted.After(e.now())) })
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
		if pod.Node == "" || !e.stays(pod) {
			continue
		}
		node, lease := e.node(pod.Node), e.kubelet(pod.Node)
		switch failed := cmp.Or(e.Nodes.Failed, e.NodeLeases.Failed); {
		case failed != nil:
			f.lack(failed, "whether node %s answers could not be read", pod.Node)
		case node != nil && (node.Ready == "Unknown" || lease != nil && lease.Expired(e.now())):
			f.lack(nil, "node %s does not answer: pod %s will not end before it does", pod.Node, pod.Name)
			f.Do = []string{fmt.Sprintf("bring node %s back: its kubelet ends the pod", pod.Node)}
		case node == nil && e.Nodes.Known():
			f.lack(nil, "node %s does not exist: the pod garbage collector deletes pod %s, and may do so earlier", pod.Node, pod.Name)
		default:
			continue
		}
		break
	}
	return []Finding{f}
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
		controller := slices.IndexFunc(pod.Owners, func(o Owner) bool { return o.Controls }) // the job controller takes a pod without one for an orphan
		f := Finding{Culprit: Reference{Resource: "pods", Namespace: e.Name, Name: pod.Name}, Owner: &Party{Name: "job-controller", State: NotKnown}}
		f.Says = fmt.Sprintf("pod %s keeps the finalizer of a Job that does not exist", pod.Name)
		f.saw(1, pods.Request, "pod %s has %s", pod.Name, jobTracking)
		switch {
		case owner < 0 && controller >= 0:
			other := pod.Owners[controller]
			f.Says = fmt.Sprintf("pod %s has the finalizer of a Job's pods, and belongs to %s %s", pod.Name, other.Kind, other.Name)
			f.saw(1, pods.Request, "its controller is %s %s: the job controller leaves such a pod alone", other.Kind, other.Name)
			f.Do = []string{"⚠ remove that finalizer by a JSON patch: no controller does"}
			if !slices.Contains(builtInGroups, other.Group) {
				f.lack(nil, "whether the controller of %s %s removes it was not looked for", other.Kind, other.Name)
				f.Do = []string{fmt.Sprintf("find the controller of %s %s, and let it finish", other.Kind, other.Name)}
			}
		case owner < 0:
			f.saw(1, pods.Request, "no Job is its owner, and no other controller")
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
		h := Held{Type: pods, Finalizer: jobTracking, Object: pod.Object}
		still, known := e.standstill(pods, pod.Object)
		if known && !still {
			continue
		}
		if !known {
			f.lack(nil, "%s", e.seenOnce())
		}
		if other := e.changedOf(h); other != "" {
			f.lack(nil, "pod %s has lost that finalizer, or has changed: the job-controller seems to be at work", other)
		}
		seen := Finding{}
		state := e.builtIn(&seen, "job-controller")
		if state != Stopped && (owner >= 0 || controller < 0) {
			f.lackJobController(e, state)
		}
		if state == Stopped || len(seen.lacks) > 0 {
			f.Missing, f.lacks = append(f.Missing, seen.Missing...), append(f.lacks, seen.lacks...)
		}
		if known && state == Stopped && len(f.Missing) == 0 {
			f.Owner.State = Stopped
			f.Proof = append(f.Proof, seen.Proof...)
			f.offerRelease(e, h)
		} else if known && len(f.Missing) == 0 {
			f.printRelease(e, h)
		}
		findings = append(findings, f)
	}
	return findings
}

// lackJobController adds to a finding about an orphan of a Job that the job controller may run, and
// then something refuses its update of the pod.
func (f *Finding) lackJobController(e *Evidence, state State) {
	decides := e.decidesOn(func(r Rule) bool { return r.matchesUpdateOf(e.pods()) })
	failed := e.admissionUnread()
	switch {
	case state == Ready:
		f.lack(nil, "kube-controller-manager runs, whose job-controller removes the finalizer of orphans: something may refuse that")
		f.Do = []string{"read the log of kube-controller-manager: it says what refuses the update of the pod, such as a webhook or a policy"}
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
			switch end := e.Pods[user].Deleted; {
			case end.IsZero() && e.age() < backOffCap, !end.IsZero() && e.now().Sub(end) < tearDown:
				f.Certainty = Later // the pod may still be deleted, run, or be torn down
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
	return e.Namespace != nil && !e.isBefore(33) && !slices.ContainsFunc(e.Types, func(t Type) bool {
		return t.Name() != "pods" && slices.ContainsFunc(t.Objects, func(o Object) bool { return o.Deleted.After(e.Namespace.Deleted) })
	})
}

func podFinalizers(e *Evidence) []Finding {
	var findings []Finding
	if !e.podsFirst() {
		return nil // then it is one of C04
	}
	for _, h := range e.Held() {
		if h.Type.Name() != "pods" || e.hasOwnCause(h) || h.Object.Deleted.After(e.now()) {
			continue
		}
		f := heldFinding(e, h)
		owner := e.lookForOwner(&f, h)
		if owner == Ready {
			continue
		}
		if stopped := e.stoppedOwner(h); stopped != nil {
			stopped.bringBack(e, &f)
		}
		switch keeper, _ := h.Keeper(); {
		case keeper.Controller != "":
			f.Do = []string{fmt.Sprintf("start kube-controller-manager with its %s, if it does not run", keeper.Controller)}
		case owner.away():
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
