package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// This page tests the causes about pods, their nodes, Jobs and claims: C10 to C14 and C24.

// nodes and kubeletOf replace what was read of nodes, and of the Lease of n.
func nodes(all ...why.Node) func(*why.Evidence) {
	return func(e *why.Evidence) { e.Nodes = answered("GET nodes", all...) }
}

func kubeletOf(renewed time.Time) func(*why.Evidence) {
	return func(e *why.Evidence) { e.Leases = kubelet(renewed) }
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
	both := pods(ending(0, "a", "example.com/x"), ending(0, "b"))
	both.Nodes = answered[why.Node]("GET nodes")
	two := calm(onReadyNode(ending(0, "b"), ending(0, "a")))
	two.Pods[0].Running = []string{"c"}
	unscheduled := mounting(onNode())
	unscheduled.Pods[0].Node = ""
	unscheduled.Managers = answered("GET pods", kcm(""))
	between := pods(ending(10*time.Minute+time.Second, "p"))
	between.Second.At = at.Add(100 * time.Second)
	between.Nodes, between.Leases = answered("GET nodes", ready), kubelet(between.Second.At)
	gone := onReadyNode(ending(10*time.Minute+time.Second, "p"), ending(70*time.Minute, "slow"))
	gone.Second.At = between.Second.At
	gone.Second.Types[0] = typeOf("", "pods", ending(70*time.Minute, "slow"))
	none := func(e *why.Evidence) { e.Leases.Items = nil }
	const taint = "kubectl taint nodes n node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
	judged(t, []row{
		is("in its grace period", inGrace(), "C10 proven", "says: 1 pod may run until 2026-01-02 04:14:05 UTC, in 59m",
			"verdict: progressing"),
		is("in its grace period on a node that is lost", inGrace(nodes(unknown)), "C10 possible",
			"only missing: node n does not answer, does not exist or was not read: see C11"),
		is("in its grace period on a node that is gone", inGrace(nodes()), "C10 possible"),
		is("in its grace period on a node that may not be read", inGrace(func(e *why.Evidence) {
			e.Nodes = refused[why.Node]()
		}), "C10 possible", "verdict: unknown, exit 3", "has been terminating for 10m and is possibly waiting: 1 pod "+
			"may run until"),
		is("in its grace period, beside one that has ended in time", calm(gone), "C10 proven", "verdict: progressing"),
		is("on a node that does not exist", lost, "C11 proven", "run: kubectl get nodes\n"),
		is("on a node that does not answer", stays(nodes(unknown), kubeletOf(at.Add(-time.Hour))), "C11 proven",
			"run: kubectl describe nodes n\n",
			"run: only after you have verified that the machine is off: "+taint+"\n", "run: when the node is back: "+
				taint+"-\n"),
		once("on a node that does not answer, whose Lease may not be read", calm(onNode(unknown)),
			func(e *why.Evidence) {
				e.Leases = refused[why.Lease]()
			}, "C11 possible"),
		is("on a node that does not answer, whose kubelet renews its Lease", stays(nodes(unknown)), "C11 possible"),
		is("on a node that says what it lacks", onNode(why.Node{Name: "n", Ready: "False"}), "C11 possible",
			"!run: kubectl taint"),
		is("on a node that has said nothing yet", onNode(why.Node{Name: "n"}), "no C11"),
		is("on no node, so it keeps no claim", unscheduled, "no C11", "!found: C14"),
		is("beside one with a finalizer", both, "C11 proven", "blocks: 1 pods: b\n"),
		is("not torn down, with a Lease that was not read", stays(func(e *why.Evidence) {
			e.Leases = why.Answer[why.Lease]{}
		}), "C12 proven"),
		is("under a kubelet without a Lease", stays(none), "C12 possible", "only missing: the Lease of node n is "+
			"not renewed: its kubelet may be dead"),
		once("under a kubelet whose Lease has expired", stays(), kubeletOf(later.Add(-70*time.Second)),
			"C12 possible", "only missing: the Lease of node n is not renewed: its kubelet may be dead"),
		is("under a kubelet that changes it", stays(func(e *why.Evidence) {
			again := e.Types[0].Objects[0]
			again.ResourceVersion = "99"
			e.Second.Types[0].Objects = []why.Object{again}
		}), "C12 possible"),
		once("with a container that runs", stays(), runs, "no C12"),
		is("beside one that runs, it is named", two, "C12 proven", "found: C12 proven pods/a\n"),
		is("whose end lies between the samples", calm(between), "C12 proven"),
		once("while the Leases of nodes may not be read", stays(),
			func(e *why.Evidence) { e.Leases.Failed = noRight }, "C12 possible"),
		is("that a Ready node runs", stays(runs), "unknown", "pod a should have ended 10m ago, and node n, which is "+
			"Ready, still runs its container c: read the kubelet's log there."),
		is("that a Ready node runs, while a finalizer of the namespace goes", stays(runs, func(e *why.Evidence) {
			e.Namespace.Finalizers = []string{"controller.cattle.io/namespace-auth"}
		}), "unknown"),
	})
	assert.True(t, between.Ending(), "its node is read")
}

// C13: the finalizer of a Job's pods. C24: other finalizers of pods.
func TestPodsOfJobs(t *testing.T) {
	const keeps = "keeps the finalizer of a Job that does not exist"
	owner := func(change func(*api.OwnerReference)) func(*why.Evidence) {
		return func(e *why.Evidence) { change(&e.Pods[0].Owners[0]) }
	}
	orphaned := func() why.Evidence { return calm(unmanaged(leftOver())) }
	led := func(controllers string) why.Evidence { return leading(leftOver(), controllers) }
	existing := leftOver()
	existing.Types[1] = typeOf("batch", "jobs", why.Object{Name: "import", UID: "j"})
	dying := leftOver()
	dying.Pods[0].Deleted, dying.Pods[0].Running = later.Add(time.Minute), []string{"c"}
	dying.Types[0].Objects[0].Deleted = dying.Pods[0].Deleted
	kueue := func() why.Evidence {
		e := orphan("pods", "", "kueue.x-k8s.io/managed", stopped("kueue-controller-manager"))
		e.Pods = []why.Pod{{Object: e.Types[0].Objects[0], Node: "n"}}
		return calm(e)
	}
	none := func(e *why.Evidence) { e.Managers.Items = nil }
	renewed := func(ago time.Duration) func(*why.Evidence) {
		return func(e *why.Evidence) { e.Leases.Items[0].Renewed = at.Add(-ago) }
	}
	const off = "*,-job-controller"
	judged(t, []row{
		is("its Job does not exist", leftOver(), "C13 proven", keeps, "run: kubectl -n shop describe pods import\n",
			`run: kubectl -n shop patch pods import `+
				`--type=json -p '[{"op":"test","path":"/metadata/uid","value":"uid-import"},`+
				`{"op":"test","path":"/metadata/resourceVersion","value":"1"},`+
				`{"op":"test","path":"/metadata/finalizers/0","value":"batch.kubernetes.io/job-tracking"},`+
				`{"op":"remove","path":"/metadata/finalizers/0"}]'`, "!found: C24"),
		is("its owner of another group does not control it", with(leftOver(), owner(func(o *api.OwnerReference) {
			o.APIVersion, o.Controller = "batch.volcano.sh/v1alpha1", nil
		})), "C13 proven", keeps),
		is("it belongs to a ReplicaSet", with(leftOver(), owner(func(o *api.OwnerReference) {
			o.APIVersion, o.Kind, o.Name = "apps/v1", "ReplicaSet", "web"
		})), "no C13"),
		is("its kube-controller-manager cannot be seen", orphaned(), "C13 proven"),
		is("its kube-controller-manager runs", led("*"), "C13 possible",
			"!loses: "),
		is("its controller is off", led(off), "C13 proven", "owner: job-controller, stopped"),
		once("nothing of its controller may be seen", calm(leftOver()), func(e *why.Evidence) {
			e.Managers, e.Leases = refused[why.Manager](), refused[why.Lease]()
		}, "C13 possible"),
		is("the Lease expired 5 s ago, and no pod is visible", with(led(""), none, renewed(20*time.Second)),
			"C13 possible", "!loses: "),
		is("an old Lease, and no pod is visible", with(led(""), none, renewed(1000*time.Hour)), "C13 possible",
			"!loses: "),
		is("kube-controller-manager was created 15 s ago", managed(leftOver(), 70*time.Second,
			why.Manager{Name: "kube-controller-manager-a", Created: at.Add(-5 * time.Second)}), "C13 possible",
			"!loses: ", "!found: C19 proven"),
		is("the conditions were written between the samples", with(managed(calm(leftOver()), time.Hour, why.Manager{
			Name: "kube-controller-manager-a", Created: deleted.Add(-time.Hour)}), func(e *why.Evidence) {
			writtenBy(e, "kube-controller-manager", -5*time.Second)
			e.Second.Namespace.ResourceVersion = "9"
		}), "C13 proven", "!owner: job-controller, stopped"),
		is("an older name switches its controller off", led("namespace,,garbagecollector"), "C13 proven"),
		is("an older name switches its controller on", led("namespace,garbagecollector,job"), "C13 possible"),
		is("it is in its grace period", dying, "no C13"),
		is("its Job exists, and its controller is not seen", unmanaged(existing), "C24 possible"),
		is("its Job exists, and its controller is off", unmanaged(existing, kcm(off)), "C24 proven"),
		is("its Job exists, and its controller works", calm(unmanaged(existing, kcm(""))), "no C24"),
		is("the owner of another finalizer is stopped", kueue(), "C24 proven"),
		is("other types are deleted as well", add(kueue(), typeOf("", "services", ending(time.Second, "s"))), "no C24"),
	})
}

// C14: claims that pods mount, or that their controller does not release.
func TestClaims(t *testing.T) {
	younger := func(change func(*why.Evidence)) why.Evidence {
		e := mounting(pods(ending(10*time.Minute+8*time.Second, "web-0")))
		e.Nodes, e.Leases = answered("GET nodes", ready), kubelet(later)
		return with(unmanaged(e, kcm("")), change)
	}
	undeleted := func() why.Evidence { return with(mounting(pods(object("web-0"))), runs) }
	beside := calm(add(plain(claim()), typeOf("", "pods")))
	beside = unmanaged(beside, kcm("*,-namespace,-pvc-protection"))
	beside.Leases.Items = []why.Lease{lease("orrery", 0)}
	unseen := orphan("persistentvolumeclaims", "", "kubernetes.io/pvc-protection")
	unseen = add(unmanaged(unseen, kcm("*,-persistentvolumeclaim-protection-controller")), typeOf("", "pods"))
	judged(t, []row{
		is("a pod that just ends, on a server that deletes all types at once", younger(func(*why.Evidence) {}),
			"C14 later", "!verdict: stuck"),
		once("a pod that is not deleted yet", undeleted(), func(e *why.Evidence) {
			e.At, e.Second.At = deleted.Add(5*time.Second), deleted.Add(15*time.Second)
		}, "C14 later", "!verdict: stuck"),
		is("its controller is off", unseen, "C04 proven"),
		is("its controller works", calm(unmanaged(claimed(), kcm(""))), "no C04"),
		is("its process is dead, beside orrery", with(managed(beside, 10*time.Minute), func(e *why.Evidence) {
			e.Leases.Items = append(e.Leases.Items, lease("orrery", 0))
		}), "C04 possible", "no pod of kube-controller-manager is visible", "!found: C19"),
	})
}
