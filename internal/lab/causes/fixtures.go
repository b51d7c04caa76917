package causes

import (
	"slices"
	"strings"
	"time"

	"orrery/internal/why"
)

// Fixture is the situation of one cause.
type Fixture struct {
	// ID is the cause's id in package why.
	ID string
	// SetUp makes the namespace hang for that cause, and NearMiss for something that looks alike
	// and is not it.
	SetUp    func(*World)
	NearMiss func(*World)
	// Culprit is the object that a report must name.
	Culprit why.Reference
	// NoController: no namespace controller runs.
	NoController bool
	// Also are causes that the situation proves beside it.
	Also []string
	// Solve repairs the situation so that the namespace goes. [Fixture.Intact] says what a solution
	// left behind or damaged.
	Solve func(*World)
	// Keep are the paths of objects that a solution must not delete.
	Keep []string

	// Settle is the time from the set-up to the examination; default [Settled].
	// NearMissSettle is the same for the near miss, default Settle.
	Settle         time.Duration
	NearMissSettle time.Duration
}

// Settled is how long a controller needs at most until its conditions describe the situation.
const Settled = 90 * time.Second

// ControllerUser is the user of the namespace controller: that of kube-controller-manager.
const ControllerUser = "system:kube-controller-manager"

// reader is the administrator of the API server in memory. `orrery why` reads as this user.
const reader = "kubernetes-admin"

const (
	lostRole = "forbid:verb=delete|deletecollection,resource=serviceaccounts,user=" + ControllerUser
	stale    = "stale-discovery:group=ray.io,version=v1alpha1"
	noDelete = "not-allowed:verb=delete|deletecollection,resource="
	// noWebhook answers for a webhook without a Service, and unreachable for one that must not matter.
	noWebhook   = "webhook-unreachable:webhook=deny.policy.io,configuration=policy,unless-ready=policy/deny"
	unreachable = "webhook-unreachable:webhook=deny.policy.io,verb=delete|deletecollection,resource=configmaps," +
		"while=validatingwebhookconfigurations/policy"
	gitOps            = "namespace=" + Namespace + ",manager=gitops"
	operatorOfSecrets = "user=system:serviceaccount:external-secrets:operator"

	node  = "/api/v1/nodes/orrery-node-1" // the one that loses its power
	onOne = `"nodeName":"orrery-node-1",` // a pod there
)

// Finalizers that keep an object: one that no table lists, and Kueue's.
const (
	unlisted = "example.com/x"
	kueue    = "kueue.x-k8s.io/managed"
)

var (
	theNamespace = why.Reference{Resource: "namespaces", Name: Namespace}
	theManager   = why.Reference{Resource: "pods", Namespace: "kube-system", Name: "kube-controller-manager"}
	theLease     = why.Reference{Resource: "leases.coordination.k8s.io", Namespace: "kube-system",
		Name: "kube-controller-manager"}
)

func apiServiceNamed(name string) why.Reference {
	return why.Reference{Resource: "apiservices.apiregistration.k8s.io", Name: name}
}

func inside(resource, name string) why.Reference {
	return why.Reference{Resource: resource, Namespace: Namespace, Name: name}
}

// Fixtures returns the fixtures, in the order of the report. What a near miss is instead stands
// beside it.
func Fixtures() []Fixture {
	ready := stuck(operated(externalSecrets), running(externalSecrets), managed(externalSecrets))
	return []Fixture{{
		ID: "C19", NoController: true, Culprit: theLease,
		SetUp: then(
			expiredLease, stuck(configMap("left"), broken("controller-is-off")),
			beside(until("controller-is-off"), start),
		),
		NearMiss: then(stuck(), sleep(5*time.Second), condition("True", "SomeResourcesRemain",
			"Some resources are remaining: pods. has 1 resource instances")), // it is fresh, and there is no Lease
		Solve: repair("controller-is-off"),
	}, {
		ID: "C21", Culprit: why.Reference{Resource: "users", Name: ControllerUser},
		SetUp: stuck(object("serviceaccounts", "a"), broken("controller-has-lost-its-role", lostRole)),
		NearMiss: then( // the right was restored, and the condition is old
			stuck(object("serviceaccounts", "a"), fault(lostRole+",for=20s")),
			sleep(8*time.Second), // the first pass was refused; the next one does not end
			fault("delay:by=1h,verb=deletecollection,user="+ControllerUser+",resource=configmaps"),
		), NearMissSettle: 25 * time.Second,
		Solve: repair("controller-has-lost-its-role"),
	}, {
		ID: "C20", NoController: true, Culprit: theNamespace, Settle: Settled + 5*time.Second,
		SetUp: then(namespace, configMap("disputed"), disagree("sweeper", "orrery")),
		NearMiss: then( // one entry is old
			stuck(configMap("a")), claim("sweeper", true, false), sleep(time.Minute), disagree("orrery", "orrery"),
		),
		Solve: remove(systemPods + "/sweeper"),
	}, {
		ID: "C01", Culprit: apiServiceNamed("v1beta1.metrics.k8s.io"),
		SetUp: stuck(apiService("metrics.k8s.io", "kube-system")),
		NearMiss: then( // it was deleted since, and the text is old
			stuck(apiService("metrics.k8s.io", "kube-system")), sleep(time.Minute),
			remove(apiServices+"/v1beta1.metrics.k8s.io"),
		), NearMissSettle: time.Second,
		Solve: remove(apiServices + "/v1beta1.metrics.k8s.io"),
	}, {
		ID: "C02", Culprit: apiServiceNamed("v1beta1.custom.metrics.k8s.io"),
		SetUp:    stuck(apiService("custom.metrics.k8s.io", Namespace)),
		NearMiss: stuck(apiService("custom.metrics.k8s.io", "kube-system")), // a Service of that name elsewhere
		Solve:    remove(apiServices + "/v1beta1.custom.metrics.k8s.io"),
	}, {
		ID: "C03", Culprit: apiServiceNamed("v1alpha1.ray.io"),
		SetUp: stuck(operated(kuberay), broken("api-server-has-old-discovery", stale)),
		NearMiss: then( // stale in the first sample only
			stuck(operated(kuberay), broken("api-server-has-old-discovery", stale)),
			sleep(Settled), beside(sleep(6*time.Second), repair("api-server-has-old-discovery")),
		), NearMissSettle: time.Second,
		Solve: repair("api-server-has-old-discovery"), Keep: []string{kuberay.definition()},
	}, {
		ID: "C23", Culprit: inside("secrets", ""),
		SetUp: stuck(
			object("secrets", "a"),
			broken("encryption-key-is-missing", "unreadable:resource=secrets,namespace="+Namespace),
		),
		NearMiss: stuck(fault("internal-error:resource=secrets,verb=list|deletecollection")), // another error
		Solve:    repair("encryption-key-is-missing"),
	}, {
		ID: "C22", Culprit: inside(argo.typeName(), "orders"),
		SetUp: stuck(
			operated(argo), create(argo.objects(), argo.body("orders")),
			broken("extension-server-lacks-delete", noDelete+"workflows"),
		),
		NearMiss: then( // what remains is younger than the deletion: C28
			stuck(fault(noDelete+"configmaps")), sleep(10*time.Second),
			fault("keeps-creating:namespace="+Namespace+",every=5s"),
		),
		Solve: repair("extension-server-lacks-delete"), Keep: []string{argo.definition()},
	}, {
		ID: "C07", Culprit: why.Reference{Resource: "validatingwebhookconfigurations", Name: "policy"},
		SetUp: stuck(configMap("a"), configMap("b"), webhook("DELETE"), fault(noWebhook)),
		// The webhook that the text names asks about creations only.
		NearMiss: stuck(configMap("a"), webhook("CREATE"), fault(unreachable)),
		Solve:    exclude, // the policy stays in force everywhere else
		Keep:     []string{webhookConfigurations + "/policy"},
	}, {
		ID: "C08", Culprit: why.Reference{Resource: "validatingadmissionpolicies", Name: "keep"},
		SetUp:    stuck(object("resourcequotas", "a"), protected),
		NearMiss: stuck(configMap("a"), webhook("DELETE"), fault(unreachable)), // it cannot be reached: C07
		Solve:    patch(inNamespace+"/resourcequotas/a", `{"metadata":{"annotations":{"example.com/archived":"yes"}}}`),
		Keep:     []string{policies + "/keep", policyBindings + "/keep-all"},
	}, {
		ID: "C09", Culprit: why.Reference{Resource: "customresourcedefinitions", Name: velero.typeName()},
		SetUp: stuck(converted()),
		NearMiss: then( // the converter is back, an object is kept by its finalizer
			stuck(converted(velero.finalizer)), sleep(Settled), endpoint("velero", "converter"),
		), NearMissSettle: time.Second,
		Solve: endpoint("velero", "converter"), Keep: []string{velero.definition()},
	}, {
		ID: "C10", Culprit: inside("pods", "slow"), Settle: 30 * time.Second,
		SetUp: stuck(fault("pod-stays:name=slow,namespace="+Namespace+",for=2m"), onLastNode("slow", 300)),
		// One is past its time.
		NearMiss: stuck(fault("node-lost"), pod("slow", "", 300, onOne), pod("late", "", 5, onOne)),
		Solve:    waited,
	}, {
		ID: "C11", Culprit: why.Reference{Resource: "nodes", Name: "orrery-node-1"},
		SetUp:    stuck(pod("lost", "", 10, onOne), broken("node-has-no-power", "node-lost:node=orrery-node-1")),
		NearMiss: stuck(pod("a", kept(unlisted), 10, "")), // the node is ready
		Solve:    repair("node-has-no-power"), Keep: []string{node},
	}, {
		ID: "C12", Culprit: inside("pods", "stuck"),
		SetUp: stuck(onLastNode("stuck", 10), broken("volume-is-stuck", "pod-stays:name=stuck,namespace="+Namespace)),
		// Its containers may still run.
		NearMiss:       stuck(pod("a", "", 300, onOne), fault("node-lost:node=orrery-node-1,for=60s")),
		NearMissSettle: 30 * time.Second,
		Solve:          repair("volume-is-stuck"), Keep: []string{node},
	}, {
		ID: "C13", Culprit: inside("pods", "counted"),
		SetUp:    stuck(pod("counted", kept("batch.kubernetes.io/job-tracking"), 5, "")),
		NearMiss: stuck(pod("a", kept(unlisted), 5, "")),
		Solve:    release(inNamespace + "/pods/counted"),
	}, {
		ID: "C14", Culprit: inside("pods", "mounting"), Also: []string{"C11"},
		SetUp:    claimed(`"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}],`),
		NearMiss: claimed(""), // no pod mounts it, and nothing is seen of its controller
		Solve:    repair("node-is-switched-off"), Keep: []string{node},
	}, {
		ID: "C24", Culprit: inside("pods", "admitted"),
		SetUp: stuck(
			stopped(systemDeployments, "kueue-controller-manager", containers),
			pod("admitted", kept(kueue), 5, ""), configMap("c"),
		),
		NearMiss: then( // the finalizer's owner acts between the samples
			stuck(pod("a", kept(kueue), 5, "")), sleep(Settled),
			beside(each(5, func(i int) step {
				annotations := `{"metadata":{"annotations":{"kueue.x-k8s.io/step":"` + name(i) + `"}}}`
				return then(sleep(3*time.Second), patch(inNamespace+"/pods/a", annotations))
			})),
		), NearMissSettle: time.Second,
		Solve: release(inNamespace + "/pods/admitted"),
	}, {
		ID: "C04", Culprit: inside(keda.typeName(), "orders"),
		SetUp:    stuck(operated(keda), managed(keda), mayUpdate(keda, "keda", "keda", "operator")),
		NearMiss: stuck(operated(keda), running(keda), managed(keda)), // the Deployment is ready: slow
		Solve:    release(keda.objects() + "/orders"), Keep: []string{keda.definition()},
	}, {
		ID: "C05", Culprit: inside(strimzi.typeName(), "orders"),
		SetUp: stuck(operated(strimzi), managed(strimzi), mayUpdate(strimzi, "strimzi", Namespace, "topic-operator")),
		NearMiss: stuck( // a second account, elsewhere, with a pod
			operated(strimzi), managed(strimzi), mayUpdate(strimzi, "strimzi", Namespace, "topic-operator"),
			mayUpdate(strimzi, "backup", "kafka", "backup"),
			create(allNamespaces+"/kafka/serviceaccounts", named("backup")),
			create(allNamespaces+"/kafka/pods",
				`{"metadata":{"name":"b"},"spec":{"serviceAccountName":"backup",`+containers+`}}`),
		),
		Solve: release(strimzi.objects() + "/orders"), Keep: []string{strimzi.definition()},
	}, {
		ID: "C06", Culprit: inside(externalSecrets.typeName(), "orders"),
		SetUp: then(
			broken("role-is-missing", "forbid:verb=update|patch,resource=pushsecrets,"+operatorOfSecrets),
			fault("forbid:verb=impersonate,resource=serviceaccounts,"+operatorOfSecrets), ready,
			// The operator tries again and again.
			beside(until("role-is-missing"), release(externalSecrets.objects()+"/orders")),
		),
		NearMiss: ready, // the review allows
		Solve:    repair("role-is-missing"), Keep: []string{externalSecrets.definition()},
	}, {
		ID: "C15", Culprit: inside("services", "web"),
		SetUp: stuck(
			balancer, stopped(systemDeployments, "cloud-controller-manager", containers), broken("balancer-of-web"),
		),
		NearMiss: stuck( // the cloud's controller is ready: slow
			balancer, stopped(systemDeployments, "cloud-controller-manager", containers),
			patch(systemDeployments+"/cloud-controller-manager/status", oneReady),
		),
		Solve: then(repair("balancer-of-web"), release(inNamespace+"/services/web")),
	}, {
		ID: "C25", Culprit: why.Reference{Resource: "customresourcedefinitions", Name: certManager.typeName()},
		Also:  []string{"C04"},
		SetUp: stuck(operated(certManager), managed(certManager), remove(certManager.definition())),
		NearMiss: stuck( // an object of it is in another namespace
			operated(certManager), running(certManager),
			create(strings.Replace(certManager.objects(), Namespace, "cert-manager", 1),
				certManager.body("o", certManager.finalizer)),
			configMap("a", unlisted), remove(certManager.definition()),
		),
		Solve: release(certManager.objects() + "/orders"),
	}, {
		ID: "C26", Culprit: inside("pods", "leaf"),
		SetUp:    family("true"),
		NearMiss: family("false"), // it does not block its owner
		Solve:    release(inNamespace + "/pods/leaf"),
	}, {
		ID: "C27", Culprit: inside("podtemplates", "*"), Settle: 1500 * time.Millisecond,
		SetUp: then(
			stuck(each(40, func(i int) step { return podTemplate(name(i)) })), sleep(Settled+500*time.Millisecond),
			beside(each(40, func(i int) step { // one a second, between the passes of the controller
				return then(release(podTemplates+"/"+name(i)), sleep(time.Second))
			})),
		),
		NearMiss: then(stuck(podTemplate("a")), sleep(Settled)), // the counts stay equal
		Solve:    waited,
	}, {
		ID: "C28", Culprit: inside("configmaps", "*"),
		SetUp: stuck(broken("gitops-keeps-creating", "keeps-creating:every=100ms,"+gitOps,
			// More come between a deletion and the next list.
			"delay:by=300ms,verb=list,resource=configmaps,namespace="+Namespace)),
		NearMiss: then( // it has stopped, and a finalizer keeps what is older
			stuck(configMap("a", unlisted), broken("gitops-keeps-creating", "keeps-creating:"+gitOps)),
			sleep(30*time.Second), repair("gitops-keeps-creating"),
		),
		Solve: repair("gitops-keeps-creating"),
	}, {
		ID: "C16", Culprit: theNamespace,
		SetUp:    stuck(broken("audit-record-of-shop"), finalizer("example.com/audit")),
		NearMiss: stuck(finalizer("foregroundDeletion")), // the garbage collector's own
		Solve:    then(repair("audit-record-of-shop"), release(inNamespace)),
	}, {
		ID: "C17", Culprit: theManager,
		SetUp: stuck(
			finalizer("foregroundDeletion"),
			// With the job controller on there would be no orphan of C13.
			manager("*,-garbage-collector-controller,-job-controller"),
			fault("collector-stopped:while=pods/kube-system/kube-controller-manager"),
		),
		// The collector has had no time.
		NearMiss:       stuck(finalizer("foregroundDeletion"), manager("*"), fault("collector-stopped")),
		NearMissSettle: 30 * time.Second,
		Solve:          remove(systemPods + "/kube-controller-manager"),
	}, {
		ID: "C18", Culprit: theNamespace,
		SetUp:    stuck(broken("quota-of-shop"), tokens(func(all []string) []string { return append(all, unlisted) })),
		NearMiss: stuck(configMap("a", unlisted)),
		Solve: then(repair("quota-of-shop"), tokens(func(all []string) []string {
			return slices.DeleteFunc(all, func(token string) bool { return token == unlisted })
		})),
	}, {
		ID: "C29", Culprit: theNamespace,
		SetUp:    namespace,
		NearMiss: stuck(), NearMissSettle: 3 * time.Second, // it has been terminating for 3 s
		Solve: terminate,
	}, {
		ID: "C30", Culprit: theNamespace,
		SetUp: then(
			stuck(configMap("kept", unlisted)),
			broken("reader-has-lost-a-right", "forbid:verb=list,resource=ingresses,user="+reader),
		),
		// Nodes are not needed while no pod is late.
		NearMiss: then(stuck(configMap("a", unlisted)), fault("forbid:verb=list,resource=nodes,user="+reader)),
		Solve:    then(repair("reader-has-lost-a-right"), release(inNamespace+"/configmaps/kept")),
	}}
}

// name is a short name of its own for each number.
func name(i int) string { return "c" + string(rune('a'+i/26)) + string(rune('a'+i%26)) }
