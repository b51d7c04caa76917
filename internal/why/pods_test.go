package why_test

import (
	"testing"
	"time"

	"orrery/internal/why"
)

// This page tests the causes about pods, their nodes, Jobs and claims: C10 to C14 and C24.

// nodes and kubeletOf replace what was read of nodes, and of the Lease of n.
func nodes(all ...why.Node) func(*why.Evidence) {
	return func(e *why.Evidence) { e.Nodes = answered("GET nodes", all...) }
}

func kubeletOf(renewed time.Time) func(*why.Evidence) {
	return func(e *why.Evidence) { e.NodeLeases = kubelet(renewed) }
}

func runs(e *why.Evidence) { e.Pods[0].Running = []string{"c"} }

// mounting is a namespace with a protected claim, which its first pod mounts.
func mounting(e why.Evidence) why.Evidence {
	e.Pods[0].Claims = []string{"data"}
	return calm(add(e, claim()))
}

// C10, C11 and C12: what a node says, and what its kubelet does.
func TestPodsAndTheirNodes(t *testing.T) {
	lost, unknown := onNode(), why.Node{Name: "n", Ready: "Unknown"}
	inGrace := func(change ...func(*why.Evidence)) why.Evidence {
		return with(calm(onReadyNode(ending(70*time.Minute, "slow"))), change...)
	}
	stays := func(change ...func(*why.Evidence)) why.Evidence {
		return with(calm(onReadyNode(ending(0, "a"))), change...)
	}
	finalizer := onNode()
	finalizer.Pods[0].Finalizers = []string{"example.com/x"}
	both := pods(ending(0, "a", "example.com/x"), ending(0, "b"))
	both.Nodes = answered[why.Node]("GET nodes")
	attached := func(e *why.Evidence) {
		e.Pods[0].Claims = []string{"data"}
		e.Volumes = answered("GET volumeattachments", why.Attachment{Name: "csi-1", Node: "n", Attached: true})
	}
	two := calm(onReadyNode(ending(0, "b"), ending(0, "a")))
	two.Pods[0].Running = []string{"c"}
	unscheduled := mounting(onNode())
	unscheduled.Pods[0].Node = ""
	unscheduled.Managers = answered("GET pods", kcm(""))
	between := pods(ending(10*time.Minute+time.Second, "p"))
	between.Second.At = at.Add(100 * time.Second)
	between.Nodes, between.NodeLeases = answered("GET nodes", ready), kubelet(between.Second.At)
	policy := func(e *why.Evidence) { e.Policies = bound(rule("DELETE", "", "pods")) }
	webhook := func(resource string) func(*why.Evidence) {
		return func(e *why.Evidence) {
			e.Webhooks = answered("GET webhooks", hook("w", "w", guard, rule("DELETE", "*", resource)))
		}
	}
	others := func(e *why.Evidence) { e.Policies.Items[0].NamespaceOnly.Labels = map[string]string{"team": "b"} }
	none := func(e *why.Evidence) { e.NodeLeases.Items = nil }
	const decides = " decides on deletions of pods, also on those of the kubelet"
	const taint = "kubectl taint nodes n node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
	judged(t, []row{
		{"in its grace period", inGrace(), nil, "C10 proven",
			has{"says: 1 pod may run until 2026-01-02 04:14:05 UTC, in 59m", "verdict: progressing"}},
		{"in its grace period on a node that is lost", inGrace(nodes(unknown)), nil, "C10 possible", has{
			"only missing: node n does not answer: pod slow will not end before it does",
			"only do: bring node n back: its kubelet ends the pod"}},
		{"in its grace period under a dead kubelet", inGrace(kubeletOf(at.Add(-time.Hour))), nil, "C10 possible", has{
			"only missing: node n does not answer: pod slow will not end before it does"}},
		{"in its grace period on a node that is gone", inGrace(nodes()), nil, "C10 possible",
			has{"only missing: node n does " +
				"not exist: the pod garbage collector deletes pod slow, and may do so earlier"}},
		{"in its grace period on a node that may not be read", inGrace(func(e *why.Evidence) {
			e.Nodes, e.NodeLeases = refused[why.Node](), refused[why.Lease]()
		}), nil, "C10 possible", has{"verdict: unknown, exit 3",
			"has been terminating for 10m and is possibly waiting: 1 pod may run until"}},
		{"on a node that does not exist", lost, nil, "C11 proven", has{"do: see whether the " +
			"pod-garbage-collector-controller " +
			"of kube-controller-manager runs: it deletes the pods of nodes that do not exist",
			"run: kubectl get nodes\n"}},
		{"on a node that does not answer", stays(nodes(unknown), kubeletOf(at.Add(-time.Hour))), nil, "C11 proven", has{
			"do: only after you have verified that the machine is off: " + taint, "run: kubectl describe nodes n\n",
			"run: only after you have verified that the machine is off: " + taint + "\n",
			"run: when the node is back: " + taint + "-\n"}},
		{"on a node that does not answer, whose Lease may not be read", calm(onNode(unknown)), func(e *why.Evidence) {
			e.NodeLeases = refused[why.Lease]()
		}, "C11 possible", nil},
		{"on a node that does not answer, whose kubelet renews its Lease", stays(nodes(unknown)), nil, "C11 possible",
			nil},
		{"on a node that says what it lacks", onNode(why.Node{Name: "n", Ready: "False"}), nil, "C11 possible",
			has{"!run: kubectl taint"}},
		{"on a node that has said nothing yet", onNode(why.Node{Name: "n"}), nil, "C11 possible",
			has{"only missing: node n may be starting"}},
		{"on no node, so it keeps no claim", unscheduled, nil, "no C11", has{"!found: C14"}},
		{"with a finalizer, it waits for its node after that", finalizer, nil, "C11 later", has{"blocks: 1 pods: "}},
		{"beside one with a finalizer", both, nil, "C11 proven", has{"blocks: 1 pods: b\n"}},
		{"with a finalizer, on a node that is not known", finalizer, func(e *why.Evidence) {
			e.Nodes = why.Answer[why.Node]{}
		}, "no C11", nil},
		{"with a finalizer, on a node that is there", finalizer, nodes(ready), "no C11", nil},
		{"not torn down", stays(), nil, "C12 proven", nil},
		{"not torn down, with a Lease that was not read", stays(func(e *why.Evidence) {
			e.NodeLeases = why.Answer[why.Lease]{}
		}), nil, "C12 proven", nil},
		{"under a kubelet without a Lease", stays(none), nil, "C12 possible",
			has{"only missing: node n has no Lease that its kubelet renews: it may be dead"}},
		{"under a kubelet whose Lease has just expired", stays(), kubeletOf(later.Add(-45 * time.Second)),
			"C12 possible",
			nil},
		{"under a kubelet whose Lease has expired", stays(), kubeletOf(later.Add(-70 * time.Second)), "C12 possible",
			has{"only missing: the Lease of node n was last renewed 1m0s ago: its kubelet may be dead"}},
		{"under a kubelet that changes it", stays(func(e *why.Evidence) {
			again := e.Types[0].Objects[0]
			again.ResourceVersion = "99"
			e.Second.Types[0].Objects = []why.Object{again}
		}), nil, "C12 possible", nil},
		{"with a container that runs", stays(), runs, "no C12", nil},
		{"with a container that runs, and a volume", stays(runs, attached), nil, "C12 possible",
			has{"!none of its containers runs"}},
		{"with a volume", stays(attached), nil, "C12 proven", nil},
		{"beside one that runs, it is named", with(two, attached), nil, "C12 proven",
			has{"found: C12 proven pods/a\n"}},
		{"whose end lies between the samples", calm(between), nil, "C12 proven", nil},
		{"while the policies were not read", calm(between), func(e *why.Evidence) {
			e.Policies = why.Answer[why.Policy]{}
		}, "C12 possible", nil},
		{"while the policies may not be read", stays(), func(e *why.Evidence) { e.Policies.Failed = noRight },
			"C12 possible", nil},
		{"while the webhooks were not read", stays(), func(e *why.Evidence) { e.Webhooks = why.Answer[why.Webhook]{} },
			"C12 possible", nil},
		{"while the webhooks may not be read", stays(), func(e *why.Evidence) { e.Webhooks.Failed = noRight },
			"C12 possible", nil},
		{"while the Leases of nodes may not be read", stays(), func(e *why.Evidence) { e.NodeLeases.Failed = noRight },
			"C12 possible", nil},
		{"under a policy", stays(), policy, "C12 possible", has{"only missing: policy p" + decides}},
		{"under a policy for other namespaces", stays(policy, others), nil, "C12 proven", nil},
		{"on a lost node, under a policy for other namespaces", with(onNode(), policy, others), nil, "C11 proven", nil},
		{"on a lost node, under a policy", onNode(), policy, "C11 possible", nil},
		{"on a lost node, under a webhook", onNode(), webhook("*/*"), "C11 possible", nil},
		{"under a webhook about pods", stays(), webhook("pods"), "C12 possible", has{"only missing: webhook w" +
			decides}},
		{"under a webhook about pods and their subresources", stays(), webhook("pods/*"), "C12 possible", nil},
		{"under a webhook about everything", stays(), webhook("*/*"), "C12 possible", nil},
		{"under a webhook about all types", stays(), webhook("*"), "C12 possible", nil},
		{"under a webhook about the status of pods", stays(webhook("pods/status")), nil, "C12 proven", nil},
		{"under a webhook about the status of all", stays(webhook("*/status")), nil, "C12 proven", nil},
		{"under a webhook about another type", stays(webhook("secrets/*")), nil, "C12 proven", nil},
		{"that a Ready node runs", stays(runs), nil, "unknown", has{"pod a should have ended 10m ago, and node n, " +
			"which is " +
			"Ready, still runs its container c: read the kubelet's log there."}},
		{"that a Ready node runs, while a finalizer of the namespace goes", stays(runs, func(e *why.Evidence) {
			e.Namespace.Finalizers = []string{"controller.cattle.io/namespace-auth"}
		}), nil, "unknown", nil},
	})
}

// C13: the finalizer of a Job's pods. C24: other finalizers of pods.
func TestPodsOfJobs(t *testing.T) {
	const keeps, exists = "keeps the finalizer of a Job that does not exist",
		"the finalizer of a Job's pods, and belongs to Job import"
	owner := func(change func(*why.Owner)) func(*why.Evidence) {
		return func(e *why.Evidence) { change(&e.Pods[0].Owners[0]) }
	}
	ofSet := func(group string) why.Evidence {
		return unmanaged(calm(with(ofReplicaSet(), owner(func(o *why.Owner) { o.Group = group }))))
	}
	orphaned := func() why.Evidence { return calm(unmanaged(leftOver())) }
	led := func(controllers string) why.Evidence { return leading(leftOver(), controllers) }
	leads := func(holder string) func(*why.Evidence) {
		return func(e *why.Evidence) { e.Leases.Items[0].Holder = holder }
	}
	existing := leftOver()
	existing.Types[1] = typeOf("batch", "jobs", why.Object{Name: "import", UID: "j"})
	dying := leftOver()
	dying.Pods[0].Deleted, dying.Pods[0].Running = later.Add(time.Minute), []string{"c"}
	dying.Types[0].Objects[0].Deleted = dying.Pods[0].Deleted
	updates := func(e *why.Evidence) {
		e.Webhooks = answered("GET webhooks", why.Webhook{Name: "w", Rules: rule("UPDATE", "", "pods")})
	}
	kueue := func(server string) why.Evidence {
		e := orphan("pods", "", "kueue.x-k8s.io/managed", "", stopped("kueue-controller-manager"))
		e.Server = server
		e.Pods = []why.Pod{{Object: e.Types[0].Objects[0], Node: "n"}}
		return calm(e)
	}
	none := func(e *why.Evidence) { e.Managers.Items = nil }
	renewed := func(ago time.Duration) func(*why.Evidence) {
		return func(e *why.Evidence) { e.Leases.Items[0].Renewed = at.Add(-ago) }
	}
	const off = "*,-job-controller"
	judged(t, []row{
		{"its Job does not exist", leftOver(), nil, "C13 proven", has{keeps,
			"run: kubectl -n shop describe pods import\n",
			"do: ⚠ as a last resort remove that finalizer by a JSON patch",
			`run: kubectl -n shop patch pods import --type=json ` +
				`-p '[{"op":"test","path":"/metadata/uid","value":"uid-import"},` +
				`{"op":"test","path":"/metadata/resourceVersion","value":"1"},` +
				`{"op":"test","path":"/metadata/finalizers/0","value":"batch.kubernetes.io/job-tracking"},` +
				`{"op":"remove","path":"/metadata/finalizers/0"}]'`, "!found: C24"}},
		{"its Job is that of another group", with(leftOver(),
			owner(func(o *why.Owner) { o.Group = "batch.volcano.sh" })), nil,
			"C13 possible", has{"has " + exists}},
		{"its owner of another group does not control it", with(leftOver(), owner(func(o *why.Owner) {
			o.Group, o.Controls = "batch.volcano.sh", false
		})), nil, "C13 proven", has{keeps}},
		{"it belongs to a ReplicaSet", ofReplicaSet(), nil, "C13 proven", has{
			"do: ⚠ remove that finalizer by a JSON patch: no controller does",
			"run: kubectl -n shop describe pods import\n"}},
		{"it belongs to a set of a custom type", ofSet("example.com"), nil, "C13 possible", nil},
		{"its kube-controller-manager cannot be seen", orphaned(), nil, "C13 proven", nil},
		{"its kube-controller-manager runs", led("*"), nil, "C13 possible",
			has{"do: read the log of kube-controller-manager",
				"!loses: "}},
		{"its controller is off", led(off), nil, "C13 proven", has{"owner: job-controller, stopped"}},
		{"its controller is off where another process leads", with(led(off), leads("master-2_1")), nil, "C13 possible",
			has{"owner: job-controller, unknown", "!loses: "}},
		{"its controller is off, and the Leases may not be read", led(off), func(e *why.Evidence) {
			e.Leases = refused[why.Lease]()
		}, "C13 possible", has{"!loses: "}},
		{"nothing of its controller may be seen", calm(leftOver()), func(e *why.Evidence) {
			e.Managers, e.Leases = refused[why.Manager](), refused[why.Lease]()
		}, "C13 possible", nil},
		{"the Lease expired 5 s ago, and no pod is visible", with(led(""), none, renewed(20*time.Second)), nil,
			"C13 possible", has{"!loses: "}},
		{"an old Lease, and no pod is visible", with(led(""), none, renewed(1000*time.Hour)), nil, "C13 possible",
			has{"!loses: "}},
		{"kube-controller-manager was created 15 s ago", managed(leftOver(), 70*time.Second, why.Manager{
			Name: "kube-controller-manager-a", Created: at.Add(-5 * time.Second)}), nil, "C13 possible", has{"!loses: ",
			"!found: C19 proven"}},
		{"the conditions were written between the samples", with(managed(calm(leftOver()), time.Hour, why.Manager{
			Name: "kube-controller-manager-a", Created: deleted.Add(-time.Hour)}), func(e *why.Evidence) {
			writtenBy(e, "kube-controller-manager", -5*time.Second)
			e.Second.Namespace.ResourceVersion = "9"
		}), nil, "C13 proven", has{"!owner: job-controller, stopped"}},
		{"an older name switches its controller off", led("namespace,,garbagecollector"), nil, "C13 proven", nil},
		{"an older name switches its controller on", led("namespace,garbagecollector,job"), nil, "C13 possible", nil},
		{"a webhook decides on updates", leftOver(), updates, "C13 possible",
			has{"only missing: webhook w decides on updates " +
				"of pods, and may refuse that of the job-controller"}},
		{"the webhooks may not be read", leftOver(), func(e *why.Evidence) { e.Webhooks = refused[why.Webhook]() },
			"C13 possible", nil},
		{"it is in its grace period", dying, nil, "no C13", nil},
		{"its Job exists, and its controller is not seen", unmanaged(existing), nil, "C24 possible", nil},
		{"its Job exists, and its controller is off", unmanaged(existing, kcm(off)), nil, "C24 proven", has{
			"only do: start kube-controller-manager with its job-controller, if it does not run"}},
		{"its Job exists, and its controller works", calm(unmanaged(existing, kcm(""))), nil, "no C24", nil},
		{"the owner of another finalizer is stopped", kueue("v1.36.3"), nil, "C24 proven", nil},
		{"nothing waits for pods on an older server", kueue("v1.30.2"), nil, "no C24", nil},
	})
}

// C14: claims that pods mount, or that their controller does not release.
func TestClaims(t *testing.T) {
	younger := func(change func(*why.Evidence)) why.Evidence {
		e := mounting(pods(ending(10*time.Minute+8*time.Second, "web-0")))
		e.Server, e.Nodes, e.NodeLeases = "v1.31.4", answered("GET nodes", ready), kubelet(later)
		e.Pods[0].Grace = 30
		return with(unmanaged(e, kcm("")), change)
	}
	undeleted := func() why.Evidence { return with(mounting(pods(object("web-0"))), runs) }
	holds := func(holder, pod string) func(*why.Evidence) {
		return func(e *why.Evidence) {
			e.Leases.Items[0].Holder, e.Managers.Items[0].Name = holder, "kube-controller-manager-"+pod
		}
	}
	off := func() why.Evidence { return leading(claimed(), "*,-persistentvolumeclaim-protection-controller") }
	beside := calm(add(plain(claim()), typeOf("", "pods")))
	beside = unmanaged(beside, kcm("*,-namespace,-pvc-protection"))
	beside.Leases.Items = []why.Lease{lease("orrery", 0)}
	unseen := orphan("persistentvolumeclaims", "", "kubernetes.io/pvc-protection", "")
	unseen = add(unmanaged(unseen, kcm("*,-persistentvolumeclaim-protection-controller")), typeOf("", "pods"))
	judged(t, []row{
		{"a pod that just ends, on a server that deletes all types at once", younger(func(*why.Evidence) {}), nil,
			"C14 later", has{"!verdict: stuck"}},
		{"a pod that is not deleted yet", undeleted(), func(e *why.Evidence) {
			e.At, e.Second.At = deleted.Add(5*time.Second), deleted.Add(15*time.Second)
		}, "C14 later", has{"!verdict: stuck"}},
		{"a pod that nobody deletes", undeleted(), nil, "C14 proven", nil},
		{"its controller is off", unseen, nil, "C14 proven",
			has{"only do: start kube-controller-manager with its persistentvolumeclaim-protection-controller"}},
		{"its controller works", calm(unmanaged(claimed(), kcm(""))), nil, "no C14", nil},
		{"its controller is off, beside another namespace controller", beside, nil, "C14 proven",
			has{"the controller that " +
				"removes the protection of the claim data is off", "!found: C19"}},
		{"the pod that is off leads", with(off(), holds("ip-10-0-1-1_5f3c", "ip-10-0-1-1")), nil, "C14 proven", nil},
		{"the pod that leads has the domain of its node", with(off(), holds("ip-10-0-1-1_5f3c",
			"ip-10-0-1-1.ec2.internal")),
			nil, "C14 proven", nil},
		{"another pod leads", with(off(), holds("ip-10-0-1-3_5f3c", "ip-10-0-1-12")), nil, "C14 possible", nil},
		{"a pod leads whose name is the beginning of its name", with(off(), holds("ip-10-0-1-1_5f3c", "ip-10-0-1-12")),
			nil,
			"C14 possible", nil},
	})
}
