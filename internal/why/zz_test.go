package why_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
)

func digests(e why.Evidence, id string) (all []string) {
	for _, f := range why.Judge(e).Findings {
		for _, r := range f.Remedies {
			if f.ID == id && r.Digest != "" {
				all = append(all, r.Digest)
			}
		}
	}
	return all
}

var noRight = &why.Failure{Request: "GET x", Code: 403, Message: "forbidden", Right: "list x"}

// A pod two seconds past its grace period that mounts a claim (server < 1.33: all types are deleted
// at once).
func TestZZClaimOfAPodThatJustEnds(t *testing.T) {
	pod := object("web-0")
	pod.Deleted = later.Add(-2 * time.Second)
	claim := object("data", "kubernetes.io/pvc-protection")
	e := calm(evidence(terminating("", ""), typeOf("", "pods", pod), typeOf("", "persistentvolumeclaims", claim)))
	e.Server = "v1.31.4"
	e.Pods = []why.Pod{{Object: pod, Node: "n", Claims: []string{"data"}, Grace: 30}}
	e.Nodes = answered("GET nodes", why.Node{Name: "n", Ready: "True"})
	e.NodeLeases = answered("GET leases", why.Lease{Name: "n", Holder: "n", Renewed: later, Duration: 40 * time.Second})
	e.Managers = answered("GET pods", why.Manager{Name: "kcm", Ready: true})
	e.Leases = answered[why.Lease]("GET leases")
	r := why.Judge(e)
	assert.NotEqual(t, why.Proven, certainty(e, "C14"))
	assert.NotEqual(t, why.Stuck, r.Verdict, r.Sentence)
}

// kube-controller-manager comes back after a reboot: its pod was created/started 20 s ago and is
// not Ready yet.
func TestZZManagerThatIsStarting(t *testing.T) {
	e := leftOver()
	e.Cluster = "c"
	e.Managers = answered("GET pods", why.Manager{Name: "kube-controller-manager-a", Created: at.Add(-5 * time.Second)})
	e.Leases = answered("GET leases", why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "a_1", Renewed: at.Add(-70 * time.Second), Duration: 15 * time.Second})
	e = calm(e)
	assert.NotEqual(t, why.Proven, certainty(e, "C13"))
	assert.Empty(t, digests(e, "C13"))
	assert.NotEqual(t, why.Proven, certainty(e, "C19"))
}

// The kubelet acts: the pod has changed between the samples.
func TestZZPodThatTheKubeletWorksOn(t *testing.T) {
	e := onNode(why.Node{Name: "n", Ready: "True"})
	e.Pods[0].Deleted = later.Add(-65 * time.Second)
	e.Types[0].Objects[0].Deleted = e.Pods[0].Deleted
	e.NodeLeases = answered("GET leases", why.Lease{Name: "n", Holder: "n", Renewed: later, Duration: 40 * time.Second})
	again := e.Types[0].Objects[0]
	again.ResourceVersion = "99"
	e.Second.Types[0].Objects = []why.Object{again}
	e = calm(e)
	assert.NotEqual(t, why.Proven, certainty(e, "C12"))
}

// A kubelet that died 45 s ago: judged by the time of the first sample its Lease has not expired.
func TestZZLeaseOfAKubeletByTheSecondSample(t *testing.T) {
	e := onNode(why.Node{Name: "n", Ready: "True"})
	e.NodeLeases = answered("GET leases", why.Lease{Name: "n", Holder: "n", Renewed: later.Add(-45 * time.Second), Duration: 40 * time.Second})
	e = calm(e)
	assert.NotEqual(t, why.Proven, certainty(e, "C12"))
}

// Requests are refused for a type, while another type becomes smaller.
func TestZZProgressBesideARefusal(t *testing.T) {
	e := evidence(terminating(contentFailure, "Failed to delete all resource types, 1 remaining: etcdserver: mvcc: database space exceeded"),
		typeOf("", "configmaps", object("a")), typeOf("", "endpoints", object("b"), object("c")))
	e.Second.Types[1] = typeOf("", "endpoints", object("b"))
	r := why.Judge(e)
	require.Equal(t, why.Possible, certainty(e, "C27"))
	assert.NotEqual(t, why.Progressing, r.Verdict, r.Sentence)
}

// A type that this user may not list holds what the condition names, while another becomes smaller.
func TestZZProgressBesideAnUnreadType(t *testing.T) {
	unread := why.Type{Group: "db.io", Version: "v1", Resource: "databases", Request: "GET databases", Failed: noRight}
	e := evidence(terminating(api.NamespaceFinalizersRemaining, "Some content in the namespace has finalizers remaining: db.io/f in 1 resource instances"),
		typeOf("", "configmaps", object("b"), object("c")), unread)
	e.Second.Types = []why.Type{typeOf("", "configmaps", object("b"))}
	r := why.Judge(e)
	assert.NotEqual(t, 0, r.ExitCode, r.Sentence)
}

// A pod that a Ready node has not ended for hours, while others end.
func TestZZProgressBesideAnOverduePod(t *testing.T) {
	old, young := object("old"), object("young")
	old.Deleted, young.Deleted = deleted.Add(time.Minute), later
	e := calm(evidence(terminating("", ""), typeOf("", "pods", old, young)))
	e.Second.Types = []why.Type{typeOf("", "pods", old)}
	e.Pods = []why.Pod{{Object: old, Node: "n", Running: []string{"c"}}, {Object: young, Node: "n"}}
	e.Nodes = answered("GET nodes", why.Node{Name: "n", Ready: "True"})
	e.NodeLeases = answered("GET leases", why.Lease{Name: "n", Holder: "n", Renewed: later, Duration: 40 * time.Second})
	r := why.Judge(e)
	assert.NotEqual(t, 0, r.ExitCode, r.Sentence)
}

// The nodes may not be read: whether a pod's node is lost is not known.
func TestZZGraceOnANodeThatMayNotBeRead(t *testing.T) {
	waiting := object("slow")
	waiting.Deleted = later.Add(time.Hour)
	e := calm(evidence(terminating("", ""), typeOf("", "pods", waiting)))
	e.Pods = []why.Pod{{Object: waiting, Node: "n"}}
	e.Nodes.Failed, e.NodeLeases.Failed = noRight, noRight
	e.Nodes.Request, e.NodeLeases.Request = "GET nodes", "GET leases"
	assert.NotEqual(t, why.Proven, certainty(e, "C10"))
	assert.NotEqual(t, 0, why.Judge(e).ExitCode, why.Judge(e).Sentence)
}

// The server of a webhook with an expired certificate was restarted since the last pass.
func TestZZCertificateOfAServerThatWasRestarted(t *testing.T) {
	e := calling(`Post "https://guard.guard.svc:443/?timeout=10s": tls: failed to verify certificate: x509: certificate has expired`)
	e.Namespace.Writers = []why.Writer{{Manager: "kube-controller-manager", At: at.Add(-time.Minute)}}
	again := *e.Namespace
	e.Second.Namespace = &again
	require.Equal(t, why.Proven, certainty(e, "C07"))
	e.Backends[0].Changed = at
	assert.NotEqual(t, why.Proven, certainty(e, "C07"))
}

// The namespace was excluded from a webhook between the samples.
func TestZZExclusionBetweenTheSamples(t *testing.T) {
	e := unreachable()
	only := why.Selector{Expressions: []why.Expression{{Key: "skip", Operator: "DoesNotExist"}}}
	e.Webhooks.Items[1].NamespaceOnly = only
	require.Equal(t, why.Proven, certainty(e, "C07"))
	e.Second.Namespace.Labels = map[string]string{"skip": "yes"}
	e.Second.Namespace.ResourceVersion = "8"
	e.Second.Namespace.Changed = at.Add(5 * time.Second)
	assert.NotEqual(t, why.Proven, certainty(e, "C07"))
}

// A webhook with an objectSelector: its objects were labelled since, so that it is not asked any
// more.
func TestZZObjectsExcludedFromANarrowedWebhook(t *testing.T) {
	e := unreachable()
	e.Webhooks.Items[1].Narrowed = true
	require.Equal(t, why.Proven, certainty(e, "C07"))
	o := e.Types[0].Objects[0]
	o.ResourceVersion, o.Changed = "99", at.Add(5*time.Second)
	e.Second.Types = slices.Clone(e.Second.Types)
	e.Second.Types[0].Objects = []why.Object{o}
	assert.NotEqual(t, why.Proven, certainty(e, "C07"))
}

// `kubectl label cm a protected-`: the removal of a field moves no time of managedFields, but the
// object changes between the samples.
func TestZZRemovedLabelOfADeniedObject(t *testing.T) {
	e := denied()
	e.Namespace.Writers = []why.Writer{{Manager: "kube-controller-manager", At: at.Add(-time.Minute)}}
	e.Namespace.ResourceVersion = "100"
	again := *e.Namespace
	e.Second.Namespace = &again
	o := e.Types[0].Objects[0]
	o.Changed, o.ResourceVersion = deleted.Add(-time.Hour), "50"
	e.Types = slices.Clone(e.Types)
	e.Types[0].Objects = []why.Object{o}
	o.ResourceVersion = "120"
	e.Second.Types = slices.Clone(e.Types)
	e.Second.Types[0].Objects = []why.Object{o}
	assert.NotEqual(t, why.Proven, certainty(e, "C08"), "it changed between the samples")
	e.Types[0].Objects[0].ResourceVersion = "120"
	assert.NotEqual(t, why.Proven, certainty(e, "C08"), "it changed after the conditions")
}

// More denied objects than are kept: one of the others may have been changed since.
func TestZZDeniedObjectsThatAreNotKept(t *testing.T) {
	e := denied()
	e.Types[0].Count, e.Second.Types = 700, slices.Clone(e.Second.Types)
	e.Second.Types[0].Count, e.Second.Types[0].Partial = 700, true
	assert.NotEqual(t, why.Proven, certainty(e, "C08"))
}

// The content went between the samples; the owners of the other entries have had no time yet.
func TestZZTokensOfANamespaceThatWasJustEmptied(t *testing.T) {
	n := terminating("", "")
	n.SpecFinalizers, n.Finalizers = []string{"kubernetes", "example.com/token"}, []string{"example.com/audit"}
	e := evidence(n)
	e.Cluster = "c"
	e = calm(e)
	e.Second.Namespace.ResourceVersion, e.Second.Namespace.SpecFinalizers = "8", []string{"example.com/token"}
	r := why.Judge(e)
	assert.NotEqual(t, why.Proven, certainty(e, "C16"))
	assert.NotEqual(t, why.Proven, certainty(e, "C18"))
	assert.Empty(t, digests(e, "C18"))
	assert.NotEqual(t, why.Stuck, r.Verdict, r.Sentence)
}

// The endpoints of an APIService may not be read: its pods may be starting.
func TestZZEndpointsOfAnAPIServiceThatMayNotBeRead(t *testing.T) {
	e := unavailable()
	e.APIServices.Items[0].Reason, e.APIServices.Items[0].Since = "MissingEndpoints", at.Add(-20*time.Second)
	e.Backends = []why.Backend{{Service: *e.APIServices.Items[0].Service, Exists: true, Coming: 1, Changed: at.Add(-20 * time.Second), Request: "GET slices"}}
	require.Equal(t, why.Possible, certainty(e, "C01"))
	e.Backends[0] = why.Backend{Service: *e.APIServices.Items[0].Service, Request: "GET services", Failed: noRight}
	assert.Equal(t, why.Possible, certainty(e, "C01"))
}

// The Service of an APIService is missing for seconds: an upgrade replaces it.
func TestZZServiceThatIsReplaced(t *testing.T) {
	e := unavailable()
	e.Cluster = "c"
	a := &e.APIServices.Items[0]
	a.UID, a.ResourceVersion, a.Reason, a.Since = "u", "5", "ServiceNotFound", later.Add(-12*time.Second)
	e.Backends = []why.Backend{{Service: *a.Service, Request: "GET services"}}
	assert.Empty(t, digests(e, "C01"), "missing for 12 s")
	e.Backends[0].Exists = true
	assert.Empty(t, digests(e, "C01"), "the Service is there again")
}

// As C22 is possible while the endpoints have changed, it is while they may not be read.
func TestZZEndpointsBehindAPromiseThatMayNotBeRead(t *testing.T) {
	e := undeleted()
	e.Backends[0].Changed = at.Add(3 * time.Second)
	require.Equal(t, why.Possible, certainty(e, "C22"))
	e.Backends[0] = why.Backend{Service: e.Backends[0].Service, Request: "GET services", Failed: noRight}
	assert.NotEqual(t, why.Proven, certainty(e, "C22"), "services are forbidden")
	e = undeleted()
	e.APIServices, e.Backends = why.Answer[why.APIService]{Request: "GET apiservices", Failed: noRight}, nil
	assert.NotEqual(t, why.Proven, certainty(e, "C22"), "apiservices are forbidden")
}

// Leases that may not be read do not show that both controllers lead.
func TestZZTwoControllersWithoutLeases(t *testing.T) {
	e := contradicted()
	e.Leases.Items[0].Renewed = at.Add(time.Second)
	require.Equal(t, why.Possible, certainty(e, "C20"))
	e.Leases = why.Answer[why.Lease]{Request: "GET leases", Failed: noRight}
	assert.NotEqual(t, why.Proven, certainty(e, "C20"))
}

// No Lease and no pod of a controller (k3s with SQLite, --leader-elect=false), hundreds of types
// and a slow store: the first pass takes longer than a minute.
func TestZZSlowFirstPassWithoutALease(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "configmaps", object("a")))
	for i := range 400 {
		e.Types = append(e.Types, typeOf("x.io", fmt.Sprint("types", i)))
	}
	e.Leases, e.Managers = answered[why.Lease]("GET leases"), answered[why.Manager]("GET pods")
	e.APIServices, e.Elsewhere = answered[why.APIService]("GET apiservices"), answered[why.ConditionsWrite]("GET namespaces")
	e.At, e.Second.At = deleted.Add(55*time.Second), deleted.Add(65*time.Second)
	assert.NotEqual(t, why.Proven, certainty(e, "C19"))
}

// The clock of the leader is 30 s behind: its Lease was written between the samples (Moved).
func TestZZLeaderWhoseClockIsBehind(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "configmaps", object("a")))
	e.Managers = answered[why.Manager]("GET pods")
	e.APIServices, e.Elsewhere = answered[why.APIService]("GET apiservices"), answered[why.ConditionsWrite]("GET namespaces")
	lease := why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "a", Renewed: at.Add(-80 * time.Second), Duration: 15 * time.Second, Moved: true}
	e.Leases = answered("GET leases", lease)
	assert.NotEqual(t, why.Proven, certainty(e, "C19"), "this passes: only the collector does not set Moved in kube-system")
}

// On a server before 1.33 pods do not go first.
func TestZZPodsFirstOnAnOlderServer(t *testing.T) {
	e := orphan("pods", "", "kueue.x-k8s.io/managed", "", since("deployment", "kueue-controller-manager", 0, time.Hour))
	e.Types[0].Objects[0].Deleted = deleted
	e.Pods = []why.Pod{{Object: e.Types[0].Objects[0], Node: "n"}}
	e = calm(e)
	require.Equal(t, why.Proven, certainty(e, "C24"))
	e.Server = "v1.30.2"
	assert.NotEqual(t, why.Proven, certainty(e, "C24"), "nothing waits for the pods there")
}

// DiscoveryFailure ends (a flapping APIService), while an owner at work does not finish for days.
func TestZZDiscoveryWorksAgainBesideAnOwnerThatDoesNotFinish(t *testing.T) {
	e := application()
	require.Equal(t, why.Unknown, why.Judge(e).Verdict)
	e.Namespace.Conditions = []api.NamespaceCondition{{Type: discoveryFailure, Status: api.ConditionTrue, Message: "Discovery failed: g.io/v1: stale", LastTransitionTime: api.NewTime(at.Add(-time.Minute))}}
	e.Second.Namespace.Conditions = []api.NamespaceCondition{{Type: discoveryFailure, Status: api.ConditionFalse}}
	e.Second.Namespace.ResourceVersion = "8"
	assert.NotEqual(t, 0, why.Judge(e).ExitCode, "taken back: "+why.Judge(e).Sentence)
	e.Second.Namespace.Conditions = e.Namespace.Conditions
	assert.NotEqual(t, 0, why.Judge(e).ExitCode, "no longer holds: "+why.Judge(e).Sentence)
}

// A pass that began before the repair writes the conditions after it.
func TestZZRepairInTheMiddleOfAPass(t *testing.T) {
	e := unreachable()
	e.Backends[0] = why.Backend{Service: e.Backends[0].Service, Request: "GET slices", Exists: true, Ready: 1, Changed: at.Add(-20 * time.Second)}
	message := `Failed to delete all resource types, 1 remaining: Internal error occurred: failed calling webhook "b.example.com": failed to call webhook: Post "https://guard.guard.svc:443/?timeout=10s": context deadline exceeded`
	e.Namespace = terminating(contentFailure, message)
	e.Namespace.Writers = []why.Writer{{Manager: "kube-controller-manager", At: at.Add(-15 * time.Second)}}
	again := *e.Namespace
	e.Second.Namespace = &again
	assert.NotEqual(t, why.Proven, certainty(e, "C07"))
}

// A kubelet that renews its Lease is alive, whatever the node's condition says.
func TestZZNodeThatIsUnknownAndRenewsItsLease(t *testing.T) {
	e := onNode(why.Node{Name: "n", Ready: "Unknown"})
	e.NodeLeases = answered("GET leases", why.Lease{Name: "n", Holder: "n", Renewed: later, Duration: 40 * time.Second})
	assert.NotEqual(t, why.Proven, certainty(calm(e), "C11"))
}

// A user outside the cluster with a rule for services/status only, as that of the service
// controller has, whatever its name.
func TestZZCloudControllerByItsStatusRule(t *testing.T) {
	e := leading(balanced(), "")
	e.Grants = answered("GET roles", why.Grant{Subject: "user system:ccm", Resources: []string{"services/status"}})
	assert.NotEqual(t, why.Proven, certainty(e, "C15"))
	assert.Empty(t, digests(e, "C15"))
}

// An owner with another release name whose Role was in the namespace runs; a stopped one has the
// table's name.
func TestZZOwnerOfAnotherReleaseThatLostItsRole(t *testing.T) {
	stopped := since("deployment", "cert-manager", 0, time.Hour)
	alive := workload("deployment", "team", "team-cert-manager", 1, "cert-manager-controller")
	alive.ServiceAccount = "team-cert-manager"
	e := calm(orphan("challenges", "acme.cert-manager.io", "acme.cert-manager.io/finalizer", "", stopped, alive))
	e.Cluster = "c"
	assert.NotEqual(t, why.Proven, certainty(e, "C04"))
	assert.Empty(t, digests(e, "C04"))
}

// The last object went 12 s ago: NamespaceContentRemaining has been False since then.
func TestZZNamespaceThatWasEmptiedSecondsAgo(t *testing.T) {
	n := terminating("", "")
	n.SpecFinalizers, n.Finalizers = []string{"example.com/token"}, []string{"example.com/audit"}
	n.Conditions = []api.NamespaceCondition{{Type: api.NamespaceContentRemaining, Status: api.ConditionFalse, LastTransitionTime: api.NewTime(later.Add(-12 * time.Second))}}
	e := evidence(n)
	e.Cluster = "c"
	assert.NotEqual(t, why.Proven, certainty(e, "C16"))
	assert.NotEqual(t, why.Proven, certainty(e, "C18"))
	assert.Empty(t, digests(e, "C18"))
}

// --controllers switches it off for another controller (orrery, whose Lease is in another
// namespace), which has deleted an object since and may not write conditions.
func TestZZAnotherControllerAtWorkBesideOneThatIsOff(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "configmaps", object("a", "example.com/x")))
	e.Types[0].Objects[0].Deleted = deleted.Add(6 * time.Second)
	e.Managers = answered("GET pods", why.Manager{Name: "kcm", Ready: true, Controllers: "*,-namespace-controller"})
	e.Leases = answered[why.Lease]("GET leases")
	assert.NotEqual(t, why.Proven, certainty(e, "C19"))
}

// A pod that is not terminating yet and mounts a claim that was deleted earlier: the controller
// comes to it in its next pass.
func TestZZClaimOfAPodThatIsNotDeletedYet(t *testing.T) {
	pod := object("web-0")
	e := evidence(terminating("", ""), typeOf("", "pods", pod), typeOf("", "persistentvolumeclaims", object("data", "kubernetes.io/pvc-protection")))
	e.At, e.Second.At = deleted.Add(5*time.Second), deleted.Add(15*time.Second)
	e.Pods = []why.Pod{{Object: pod, Node: "n", Claims: []string{"data"}, Running: []string{"c"}}}
	assert.NotEqual(t, why.Stuck, why.Judge(e).Verdict, why.Judge(e).Sentence)
}

// The pods may run for a day more, and a type that cannot be read, or a refusal, is what they do
// not explain.
func TestZZGraceBesideARefusal(t *testing.T) {
	waiting := object("slow")
	waiting.Deleted = later.Add(time.Hour)
	e := evidence(terminating(contentFailure, "Failed to delete all resource types, 1 remaining: etcdserver: mvcc: database space exceeded"),
		typeOf("", "pods", waiting), typeOf("", "configmaps", object("a")))
	e.Server = "v1.30.2"
	e.Pods = []why.Pod{{Object: waiting, Node: "n"}}
	e.Nodes = answered("GET nodes", why.Node{Name: "n", Ready: "True"})
	assert.NotEqual(t, 0, why.Judge(e).ExitCode, why.Judge(e).Sentence)
}

// A server without resourceVersions (aggregated): the object has lost a finalizer between the
// samples.
func TestZZObjectsWithoutAResourceVersion(t *testing.T) {
	e := held(since("deployment", "keda-operator", 0, time.Hour))
	a := object("a", "finalizer.keda.sh", "other.io/f")
	a.ResourceVersion = ""
	e.Types[0].Objects = []why.Object{a}
	a.Finalizers = a.Finalizers[:1]
	e.Second.Types = slices.Clone(e.Second.Types)
	e.Second.Types[0].Objects = []why.Object{a}
	assert.NotEqual(t, why.Proven, certainty(calm(e), "C04"))
}

// DiscoveryFailure came between the samples (the server of an APIService went with its pods); the
// types were discovered before.
func TestZZDiscoveryFailsBetweenTheSamples(t *testing.T) {
	const message = "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: g.io/v1: stale GroupVersion discovery: g.io/v1"
	e := evidence(terminating("", ""))
	e.Namespace.Conditions = []api.NamespaceCondition{{Type: discoveryFailure, Status: api.ConditionFalse}}
	e.Second.Namespace.Conditions = []api.NamespaceCondition{{Type: discoveryFailure, Status: api.ConditionTrue, Message: message, LastTransitionTime: api.NewTime(at.Add(4 * time.Second))}}
	e.Second.Namespace.ResourceVersion = "8"
	e.APIServices = answered("GET apiservices", why.APIService{
		Name: "v1.g.io", GroupVersion: "g.io/v1", Service: &why.Service{Namespace: "shop", Name: "y"}, Available: "False", Reason: "MissingEndpoints", Since: at.Add(2 * time.Second),
	})
	r := why.Judge(e)
	assert.NotEqual(t, 0, r.ExitCode, r.Sentence)
	assert.NotContains(t, r.Sentence, "no longer holds")

	e.Namespace.Conditions = e.Second.Namespace.Conditions // it was there before, and its server answered once
	r = why.Judge(e)
	assert.NotEqual(t, 0, r.ExitCode, "flapping: "+r.Sentence)
}

// A Lease of kube-controller-manager that expired long ago, whose pod has been starting for
// seconds, for C17 and C14.
func TestZZCollectorThatIsStarting(t *testing.T) {
	n := terminating("", "")
	n.SpecFinalizers, n.Finalizers = nil, []string{"foregroundDeletion"}
	e := evidence(n)
	e.Managers = answered("GET pods", why.Manager{Name: "kube-controller-manager-a", Created: at.Add(-5 * time.Second)})
	e.Leases = answered("GET leases", why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "a_1", Renewed: at.Add(-3 * time.Minute), Duration: 15 * time.Second})
	assert.NotEqual(t, why.Proven, certainty(e, "C17"))
}

// The labels of the namespace decide on a webhook that is only asked by what else is not seen:
// rules with scope Cluster. A webhook that another user's type is refused to: the sentence must not
// say that it is not the cause any more.
func TestZZWebhookOfATypeThatMayNotBeListed(t *testing.T) {
	e := unreachable()
	e.Types = slices.Clone(e.Types)
	e.Types[0].Count, e.Types[0].Objects, e.Types[0].Failed = 0, nil, noRight
	e.Second.Types = e.Second.Types[1:]
	r := why.Judge(e)
	assert.Equal(t, why.Possible, certainty(e, "C07"), r.Sentence)
}

// The examination ended early: what would be a cause was not read.
func TestZZProgressInAnExaminationThatEndedEarly(t *testing.T) {
	e := calm(evidence(terminating("", ""), typeOf("", "configmaps", object("b"), object("c", "example.com/x"))))
	e.Second.Types[0] = typeOf("", "configmaps", object("c", "example.com/x"))
	e.Incomplete = "the limit of requests (--max-requests) was reached"
	e.Types[0].Objects = e.Types[0].Objects[:1]
	r := why.Judge(e)
	assert.NotEqual(t, 0, r.ExitCode, r.Sentence)
}

// The endpoints of a webhook have been ready since long before the last pass, which found none: its
// targetPort has a name that the pods do not have.
func TestZZEndpointsWithoutThePort(t *testing.T) {
	e := calling(`no endpoints available for service "guard"`)
	e.Backends[0].Changed = deleted.Add(-time.Hour)
	e.Namespace.Writers = []why.Writer{{Manager: "kube-controller-manager", At: at.Add(-30 * time.Second)}}
	e.Second.Namespace.Writers = e.Namespace.Writers
	r := why.Judge(e)
	assert.NotContains(t, r.Sentence, "not the cause any more")
}

// The Services of several releases: an owner is ready, and limited by a flag that is not in the
// list.
func TestZZOwnerWithoutRightsIsNotAPart(t *testing.T) {
	stopped := since("deployment", "keda-operator", 0, time.Hour)
	alive := workload("deployment", "team", "eu-keda-operator", 1, "keda-operator") // a Helm release, its container has the owner's name
	alive.ServiceAccount = "eu"
	e := calm(held(stopped, alive))
	e.Cluster = "c"
	assert.Empty(t, digests(e, "C04"), find(why.Judge(e), "C04").Proof)
}

// What an administrator calls possible is not proven for a user who may not see
// kube-controller-manager.
func TestZZOrphanWhoseControllerMayNotBeSeen(t *testing.T) {
	e := leading(orphanPod(), "")
	require.Equal(t, why.Possible, certainty(e, "C13"))
	e.Managers = why.Answer[why.Manager]{Request: "GET pods", Failed: noRight}
	e.Leases = why.Answer[why.Lease]{Request: "GET leases", Failed: noRight}
	assert.NotEqual(t, why.Proven, certainty(e, "C13"))
}

// The leader is on node ip-10-0-1-1, whose mirror pod is being replaced, and not on ip-10-0-1-12.
func TestZZHolderWhoseNameIsAPrefix(t *testing.T) {
	e := leading(claimed(), "*,-persistentvolumeclaim-protection-controller")
	e.Managers.Items[0].Name = "kube-controller-manager-ip-10-0-1-12"
	e.Leases.Items[0].Holder = "ip-10-0-1-3_5f3c"
	require.Equal(t, why.Possible, certainty(e, "C14"))
	e.Leases.Items[0].Holder = "ip-10-0-1-1_5f3c"
	assert.NotEqual(t, why.Proven, certainty(e, "C14"))
}

// A controller without a Lease has written the conditions between the samples; an old Lease and a
// pod that is not Ready are there.
func TestZZConditionsWrittenBetweenTheSamples(t *testing.T) {
	e := orphanPod()
	e.Cluster = "c"
	e.Managers = answered("GET pods", why.Manager{Name: "kube-controller-manager-a", Created: deleted.Add(-time.Hour)})
	e.Leases = answered("GET leases", why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "a_1", Renewed: at.Add(-time.Hour), Duration: 15 * time.Second})
	e.Second.Namespace.Writers = []why.Writer{{Manager: "kube-controller-manager", At: at.Add(5 * time.Second)}}
	e.Second.Namespace.ResourceVersion = "9"
	assert.Empty(t, digests(e, "C13"))
}

// Both samples within a second show no standstill.
func TestZZSamplesThatAreTooNear(t *testing.T) {
	e := held(since("deployment", "keda-operator", 0, time.Hour))
	e.Second.At = e.At.Add(time.Second)
	assert.NotEqual(t, why.Proven, certainty(calm(e), "C04"))
}

// kube-root-ca.crt is created again by kube-controller-manager: that is not something that creates
// objects.
func TestZZRootCertificateBesideAYoungObject(t *testing.T) {
	young, root := object("young", "example.com/x"), object("kube-root-ca.crt")
	young.Created, root.Created, root.UID = deleted.Add(8*time.Second), at.Add(2*time.Second), "new"
	e := calm(evidence(terminating("", ""), typeOf("", "configmaps", young)))
	e.Second.Types = []why.Type{typeOf("", "configmaps", young, root)}
	assert.NotEqual(t, why.Proven, certainty(e, "C28"))
}

// What is missing in the proof that the job-controller is off is missing in the finding, and no
// removal has a digest.
func TestZZWhatIsMissingAboutTheJobController(t *testing.T) {
	for name, change := range map[string]func(*why.Evidence){
		"the Lease expired 5 s ago, no pod is visible (EKS, k3s: a restart)": func(e *why.Evidence) {
			e.Managers, e.Leases.Items[0].Renewed = answered[why.Manager]("GET pods"), at.Add(-20*time.Second)
		},
		"an old Lease, no pod is visible (leader election was switched off)": func(e *why.Evidence) {
			e.Managers, e.Leases.Items[0].Renewed = answered[why.Manager]("GET pods"), at.Add(-1000*time.Hour)
		},
		"another process holds the Lease": func(e *why.Evidence) {
			e.Managers.Items[0].Controllers, e.Leases.Items[0].Holder = "*,-job-controller", "master-2_1"
		},
		"the Leases are forbidden": func(e *why.Evidence) {
			e.Managers.Items[0].Controllers = "*,-job-controller"
			e.Leases = why.Answer[why.Lease]{Request: "GET leases", Failed: noRight}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := leading(orphanPod(), "")
			e.Leases.Items = slices.Clone(e.Leases.Items)
			change(&e)
			assert.NotEqual(t, why.Proven, certainty(e, "C13"))
			assert.Empty(t, digests(e, "C13"))
		})
	}
}
