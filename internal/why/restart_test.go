package why_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page has what is down for a short time only: owners that start again, and obstacles that
// were removed since the controller met them.

// An owner that is about to run is not gone, however it is started.
func TestAnOwnerThatStartsAgain(t *testing.T) {
	const moment, long = time.Minute, time.Hour
	pending := since(why.PodKind, "keda-operator-0", 1, moment)
	for name, test := range map[string]struct {
		workloads []why.Workload
		certainty why.Certainty
		missing   string
	}{
		"a Deployment during a rollout":    {[]why.Workload{since("deployment", "keda-operator", 1, moment)}, why.Possible, "deployment ops/keda-operator has been without a ready pod since"},
		"one that does not come back":      {[]why.Workload{since("deployment", "keda-operator", 1, long)}, why.Proven, ""},
		"one that was scaled down":         {[]why.Workload{since("deployment", "keda-operator", 0, moment)}, why.Proven, ""},
		"a StatefulSet with a pending pod": {[]why.Workload{since("statefulset", "keda-operator", 1, long), pending}, why.Possible, "pod ops/keda-operator-0 has been without a ready pod since"},
		"one whose pod never starts": {
			[]why.Workload{since("statefulset", "keda-operator", 1, long), since(why.PodKind, "keda-operator-0", 1, long)}, why.Proven, "",
		},
		"a CronJob":                   {[]why.Workload{since(why.CronKind, "keda-operator", 1, long)}, why.Possible, "cronjob ops/keda-operator runs by its schedule, and may be keda-operator"},
		"a CronJob that is suspended": {[]why.Workload{since(why.CronKind, "keda-operator", 0, long)}, why.Proven, ""},
	} {
		t.Run(name, func(t *testing.T) {
			found := find(why.Judge(held(test.workloads...)), "C04")
			require.NotNil(t, found)
			assert.Equal(t, test.certainty, found.Certainty, found.Missing)
			if test.missing != "" {
				require.NotEmpty(t, found.Missing)
				assert.Contains(t, found.Missing[0], test.missing)
				assert.NotContains(t, found.Do[len(found.Do)-1], "last resort")
			}
		})
	}
}

// Each kind of workload is brought back by its own command.
func TestBringingAnOwnerBack(t *testing.T) {
	for command, w := range map[string]why.Workload{
		"kubectl -n ops scale statefulset/keda-operator --replicas=1":                since("statefulset", "keda-operator", 0, time.Hour),
		"kubectl -n ops describe daemonset keda-operator":                            since("daemonset", "keda-operator", 0, time.Hour),
		`kubectl -n ops patch cronjob keda-operator -p '{"spec":{"suspend":false}}'`: since(why.CronKind, "keda-operator", 0, time.Hour),
		"kubectl -n ops describe deployment keda-operator":                           since("deployment", "keda-operator", 2, time.Hour),
	} {
		found, _ := advice(t, held(w), "C04")
		assert.Equal(t, command, found.Remedies[0].Command)
	}
}

// A program that has set a finalizer need not be the one that removes it, so it is not called gone,
// whatever is known of it. Tools that write objects for people do not count.
func TestTheWriterOfAFinalizer(t *testing.T) {
	e := orphan("queues", "example.com", "example.com/x", "queue-operator", since("deployment", "queue-operator", 0, time.Hour))
	e.Grants.Items = []why.Grant{{Service: why.Service{Namespace: "ops", Name: "default"}, Group: "example.com", Resources: []string{"queues"}}}
	e.Stamps[0].Writers = append(e.Stamps[0].Writers, why.Writer{Manager: "kubectl-edit", At: at}, why.Writer{Manager: "Python", At: at}, why.Writer{Manager: "agent", At: at})
	found, lines := advice(t, e, "C04")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, why.NotKnown, found.Owner.State)
	assert.Equal(t, []string{"no table has the owner of example.com/x: queue-operator set it, and another program may remove it"}, found.Missing)
	assert.Contains(t, lines, "kubectl -n ops scale deployment/queue-operator --replicas=1")
	assert.NotContains(t, lines, "last resort")
	e.Stamps[0].Writers = append(e.Stamps[0].Writers, why.Writer{Manager: "new-operator", At: at})
	found = find(why.Judge(e), "C04")
	assert.Equal(t, "new-operator", found.Owner.Name, "the last one")
	assert.Equal(t, []string{
		"no table has the owner of example.com/x: new-operator and queue-operator set it, and another program may remove it",
	}, found.Missing)
	e.Workloads.Items = append(e.Workloads.Items, workload("deployment", "ops", "queue-operator-v2", 1, "queue-operator"))
	assert.Nil(t, find(why.Judge(e), "C04"), "one of them runs")
}

// A workload with a word of an owner's name may be another program: it is no trace. A name of its
// image is one.
func TestAWorkloadWithAWordOfAnOwner(t *testing.T) {
	found := find(why.Judge(held(since("deployment", "keda-operator-backup", 0, time.Hour))), "C04")
	assert.Equal(t, why.Possible, found.Certainty)
	w := since("deployment", "queues", 0, time.Hour)
	w.Words = []string{"manager", "keda-operator"}
	assert.Equal(t, why.Proven, find(why.Judge(held(w)), "C04").Certainty, "its image is called like the owner")
}

// An owner may work on another object than the first.
func TestAnOwnerThatWorksOnAnotherObject(t *testing.T) {
	e := held(since("deployment", "keda-operator", 0, time.Hour))
	e.Types[0].Objects = append(e.Types[0].Objects, object("b", "finalizer.keda.sh"))
	e.Types[0].Count = 2
	e.Second.Types[0] = e.Types[0]
	e.Second.Types[0].Objects = slices.Clone(e.Types[0].Objects)
	require.Equal(t, why.Proven, find(why.Judge(e), "C04").Certainty)
	e.Second.Types[0].Objects[1].ResourceVersion = "9"
	assert.Nil(t, find(why.Judge(e), "C04"))
}

// An owner with a kubeconfig may have another identity than its service account, about which
// nothing was asked.
func TestAnOwnerWithAKubeconfig(t *testing.T) {
	w := workload("deployment", "es", "external-secrets", 1)
	e := secrets(w)
	refuse(&e, w)
	assert.Equal(t, why.Proven, find(why.Judge(e), "C06").Certainty)
	e.Workloads.Items[0].Kubeconfig = true
	found := find(why.Judge(e), "C06")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, []string{"external-secrets may send its requests under another identity than its service account"}, found.Missing)
}

// A second pod of the owner that does not run yet is no other owner.
func TestAPendingPodOfAnOwnerWithoutRights(t *testing.T) {
	w := workload("deployment", "es", "external-secrets", 1)
	e := secrets(w, since(why.PodKind, "external-secrets-2", 1, time.Minute), since(why.CronKind, "external-secrets-report", 1, time.Hour))
	refuse(&e, w)
	assert.Equal(t, why.Proven, find(why.Judge(e), "C06").Certainty)
}

// The objects of a terminating definition go.
func TestADefinitionWhoseObjectsGo(t *testing.T) {
	e := defined()
	require.NotNil(t, find(why.Judge(e), "C25"))
	e.Types[0].Count += 3
	assert.Nil(t, find(why.Judge(e), "C25"))
}

// A Lease of kube-controller-manager that has just expired may be renewed by the next process.
func TestAControllerManagerThatStartsAgain(t *testing.T) {
	e := withManagers(why.Manager{Name: "kcm"})
	for ago, certainty := range map[time.Duration]why.Certainty{30 * time.Second: why.Possible, 2 * time.Minute: why.Proven} {
		e.Leases.Items = []why.Lease{{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "old", Renewed: at.Add(-ago), Duration: 15 * time.Second}}
		assert.Equal(t, certainty, find(why.Judge(e), "C19").Certainty, ago)
	}
	e.Managers.Items = nil
	assert.Contains(t, find(why.Judge(e), "C19").Missing, "no pod of kube-controller-manager is visible: it may run elsewhere, without a Lease")
}

// A pod with the controller switched off proves nothing while another process holds the Lease. The
// values of several flags add up.
func TestAManagerBesideTheOneThatLeads(t *testing.T) {
	e := withManagers(why.Manager{Name: "kube-controller-manager-nodeipam", Ready: true, Controllers: "node-ipam-controller"})
	require.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty)
	e.Leases.Items = []why.Lease{{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "cp-1_6e1f", Renewed: at, Duration: 15 * time.Second}}
	found := find(why.Judge(e), "C19")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, []string{"the Lease of kube-controller-manager is held by cp-1_6e1f, which is none of its pods: another process may be at work"}, found.Missing)
	e.Managers.Items[0].Name = "kube-controller-manager-cp-1"
	assert.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty, "its own pod leads")
}

// A kubelet that says what its node lacks is not lost; one that renews no Lease may be dead,
// although its node is still Ready.
func TestAKubelet(t *testing.T) {
	found := find(why.Judge(onNode(why.Node{Name: "n", Ready: "False"})), "C11")
	require.NotNil(t, found)
	assert.Equal(t, why.Possible, found.Certainty)
	for _, r := range found.Remedies {
		assert.NotContains(t, r.Command, "taint")
	}

	e := onNode(why.Node{Name: "n", Ready: "True"})
	require.Equal(t, why.Proven, find(why.Judge(e), "C12").Certainty)
	e.NodeLeases.Items = []why.Lease{{Namespace: "kube-node-lease", Name: "n", Holder: "n", Renewed: at.Add(-10 * time.Second), Duration: 40 * time.Second}}
	assert.Equal(t, why.Proven, find(why.Judge(e), "C12").Certainty)
	e.NodeLeases.Items[0].Renewed = at.Add(-time.Minute)
	found = find(why.Judge(e), "C12")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, []string{"the Lease of node n was last renewed 1m0s ago: its kubelet may be dead"}, found.Missing)
}

// A pod on a lost node does not end at the end of its grace period.
func TestTheGracePeriodOnALostNode(t *testing.T) {
	waiting := object("slow")
	waiting.Deleted = later.Add(time.Hour)
	e := evidence(terminating("", ""), typeOf("", "pods", waiting))
	e.Pods = []why.Pod{{Object: waiting, Node: "n"}}
	e.Nodes = answered("GET nodes", why.Node{Name: "n", Ready: "True"})
	assert.Equal(t, why.Proven, find(why.Judge(e), "C10").Certainty)
	e.Nodes.Items[0].Ready = "Unknown"
	found := find(why.Judge(e), "C10")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, []string{"node n does not answer: pod slow will not end before it does"}, found.Missing)
}

// Who decides on deletions of pods decides on those of a kubelet, too.
func TestAPolicyOnPodsBesideAKubelet(t *testing.T) {
	rules := []why.Rule{{Operations: []string{"DELETE"}, Groups: []string{""}, Resources: []string{"pods"}}}
	for missing, set := range map[string]func(*why.Evidence){
		"policy p decides on deletions of pods, also on those of the kubelet": func(e *why.Evidence) {
			e.Policies = answered("GET policies", why.Policy{Name: "p", Rules: rules}, why.Policy{Name: "b", Binding: true, Of: "p"})
		},
		"webhook w decides on deletions of pods, also on those of the kubelet": func(e *why.Evidence) {
			e.Webhooks = answered("GET webhooks", why.Webhook{Name: "w", Rules: rules})
		},
	} {
		e := onNode(why.Node{Name: "n", Ready: "True"})
		set(&e)
		found := find(why.Judge(e), "C12")
		assert.Equal(t, why.Possible, found.Certainty)
		assert.Equal(t, []string{missing}, found.Missing)
	}
}

// What kube-controller-manager creates in every namespace is deleted again in each pass.
func TestObjectsOfEveryNamespace(t *testing.T) {
	young := object("kube-root-ca.crt")
	young.Created = at.Add(-time.Second)
	t1 := typeOf("", "configmaps", young)
	t1.Newest = young.Created
	e := evidence(terminating("", ""), t1)
	again := young
	again.UID, again.Created = "another", at.Add(time.Second)
	e.Second.Types[0].Objects = []why.Object{again}
	assert.Nil(t, find(why.Judge(e), "C28"))
	e.Types[0].Objects[0].Name, e.Second.Types[0].Objects[0].Name = "a", "b"
	assert.NotNil(t, find(why.Judge(e), "C28"))
}

// A definition that was deleted after the namespace waits for the same objects.
func TestADefinitionDeletedAfterTheNamespace(t *testing.T) {
	e := defined()
	before := find(why.Judge(e), "C25").Missing
	e.Definitions.Items[0].Deleted = deleted.Add(time.Minute)
	assert.Contains(t, find(why.Judge(e), "C25").Missing, "it was deleted after the namespace, and waits for the same objects")
	assert.NotContains(t, before, "it was deleted after the namespace, and waits for the same objects")
}

// An owner that may act as another account has not lost its rights, and one that a user stands for
// may have another identity.
func TestAnOwnerThatMayImpersonate(t *testing.T) {
	w := workload("deployment", "es", "external-secrets", 1)
	e := secrets(w)
	refuse(&e, w)
	e.Reviews = append(e.Reviews, why.Review{User: w.User(), Verb: "impersonate", Resource: "serviceaccounts", Request: "POST review"})
	require.Equal(t, why.Proven, find(why.Judge(e), "C06").Certainty)
	e.Reviews[len(e.Reviews)-1].Allowed = true
	assert.Equal(t, why.Possible, find(why.Judge(e), "C06").Certainty)
	e.Reviews[len(e.Reviews)-1].Allowed = false
	e.Grants.Items = []why.Grant{{Subject: "user es@corp", Group: "external-secrets.io", Resources: []string{"*"}}}
	found := find(why.Judge(e), "C06")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, []string{"user es@corp may update them, and may be external-secrets"}, found.Missing)
}

// A server whose pods are starting, or whose endpoints are back, may be discovered in the next
// pass.
func TestAServerThatIsStarting(t *testing.T) {
	behind := func(e why.Evidence, s why.Service, change func(*why.Backend)) why.Evidence {
		b := why.Backend{Service: s, Request: "GET slices", Exists: true, Coming: 2, Changed: at.Add(-time.Minute)}
		change(&b)
		e.Backends = []why.Backend{b}
		return e
	}
	server, hook := why.Service{Namespace: "ops", Name: "b"}, unreachable().Backends[0].Service
	for name, test := range map[string]struct {
		change  func(*why.Backend)
		missing string // of C01; "": proven
		webhook string // of C07
	}{
		"endpoints that are not ready yet": {
			func(*why.Backend) {}, "Service ops/b has 2 endpoints without Ready, changed 1m0s ago: a server may be starting",
			"Service guard/guard has 2 endpoints without Ready, changed 1m0s ago: a server may be starting",
		},
		"endpoints that do not become ready": {func(b *why.Backend) { b.Changed = at.Add(-time.Hour) }, "", ""},
		"endpoints of pods that end":         {func(b *why.Backend) { b.Coming = 0 }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for id, e := range map[string]why.Evidence{"C01": behind(undiscovered("ops"), server, test.change), "C07": behind(unreachable(), hook, test.change)} {
				found := find(why.Judge(e), id)
				require.NotNil(t, found, id)
				missing := map[string]string{"C01": test.missing, "C07": test.webhook}[id]
				if missing == "" {
					assert.Equal(t, why.Proven, found.Certainty, found.Missing)
					continue
				}
				assert.Equal(t, why.Possible, found.Certainty, id)
				assert.Equal(t, []string{missing}, found.Missing)
			}
		})
	}
	ready := behind(undiscovered("ops"), server, func(b *why.Backend) { b.Ready = 1 })
	assert.Equal(t, []string{"Service ops/b has 1 ready endpoint by now: discovery may follow"}, find(why.Judge(ready), "C01").Missing)
	ready.APIServices.Items[0].Reason = "FailedDiscoveryCheck"
	assert.Equal(t, why.Possible, find(why.Judge(ready), "C01").Certainty, "it came back a minute ago")
	ready.Backends[0].Changed = at.Add(-2 * time.Minute)
	assert.Equal(t, why.Proven, find(why.Judge(ready), "C01").Certainty, "it has an endpoint, and does not answer")
}

// Events expire: that they become fewer is no progress.
func TestEventsThatExpire(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "events", object("a"), object("b")))
	e.Second.Types[0].Objects, e.Second.Types[0].Count = e.Second.Types[0].Objects[:1], 1
	assert.Nil(t, find(why.Judge(e), "C27"))
	e.Types[0].Resource, e.Second.Types[0].Resource = "configmaps", "configmaps"
	assert.NotNil(t, find(why.Judge(e), "C27"))
}

// A node that has said nothing yet is starting, and a pod whose node or kubelet is gone does not
// end at the end of its grace period.
func TestNodesThatSayNothing(t *testing.T) {
	found := find(why.Judge(onNode(why.Node{Name: "n"})), "C11")
	require.NotNil(t, found)
	assert.Equal(t, []string{"node n may be starting"}, found.Missing)

	waiting := object("slow")
	waiting.Deleted = later.Add(time.Hour)
	e := evidence(terminating("", ""), typeOf("", "pods", waiting))
	e.Pods = []why.Pod{{Object: waiting, Node: "n"}}
	e.Nodes = answered("GET nodes", why.Node{Name: "n", Ready: "True"})
	e.NodeLeases.Items = []why.Lease{{Namespace: "kube-node-lease", Name: "n", Holder: "n", Renewed: at.Add(-time.Hour), Duration: 40 * time.Second}}
	assert.Equal(t, []string{"node n does not answer: pod slow will not end before it does"}, find(why.Judge(e), "C10").Missing)
	e.Nodes.Items = nil
	assert.Equal(t, []string{"node n does not exist: the pod garbage collector deletes pod slow, and may do so earlier"}, find(why.Judge(e), "C10").Missing)
}
