package why_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page tests the causes about finalizers and their owners: C04 to C06, C15, C25 and C26.

func leases(all ...why.Lease) func(*why.Evidence) {
	return func(e *why.Evidence) { e.Leases.Items = all }
}

func grants(all ...why.Grant) func(*why.Evidence) {
	return func(e *why.Evidence) { e.Grants.Items = all }
}

// ops is a running Deployment.
func ops(name string, words ...string) why.Workload {
	return workload("deployment", "ops", name, 1, words...)
}

// An owner is stopped, not here, or at work, by the signs that the cluster has of it. What is at
// work is no cause.
func TestSignsOfAnOwner(t *testing.T) {
	const moment, long = time.Minute, time.Hour
	onOps := func(e why.Evidence) why.Evidence { return with(e, grants(may("ops", "*"))) }
	sources := func(w why.Workload) why.Evidence {
		return calm(with(orphan("gitrepositories", "source.toolkit.fluxcd.io", "finalizers.fluxcd.io", w),
			grants(may("flux-system", "source.toolkit.fluxcd.io"))))
	}
	flux := func(name string) why.Workload { return workload("deployment", "flux-system", name, 1) }
	resourceClaim := func(controllers string) why.Evidence {
		return leading(orphan("resourceclaims", "resource.k8s.io", "resource.kubernetes.io/delete-protection"),
			"namespace,garbagecollector"+controllers)
	}
	judged(t, []row{
		is("a controller that --controllers does not have", resourceClaim(""), "C04 proven"),
		is("a controller that --controllers has by an older name", resourceClaim(",resource-claim-controller"),
			"no C04"),
		is("nothing of it is here", held(), "C04 possible", "owner: keda-operator, not in this cluster",
			"missing: whether keda-operator runs outside this cluster is not known"),
		is("it was scaled down a moment ago", held(since("deployment", "keda-operator", 0, moment)), "C04 proven"),
		is("it was scaled down with the first sample", held(since("deployment", "keda-operator", 0, 0)),
			"C04 possible"),
		is("it was scaled down after the first sample", held(since("deployment", "keda-operator", 0, -8*time.Second)),
			"C04 possible"),
		is("a Deployment during a rollout", held(since("deployment", "keda-operator", 1, moment)), "C04 possible",
			"missing: deployment ops/keda-operator has been without a ready pod since", "!last resort"),
		is("a part alone, during a rollout", held(since("deployment", "keda-operator-metrics", 1, moment)),
			"C04 possible", "missing: deployment ops/keda-operator-metrics has been without a ready pod since", "!no workload"),
		is("one that does not come back", held(since("deployment", "keda-operator", 1, long)), "C04 proven"),
		is("a StatefulSet with a pending pod", held(since("statefulset", "keda-operator", 1, long), since(why.PodKind,
			"keda-operator-0", 1, moment)), "C04 possible", "missing: pod ops/keda-operator-0 has been without a "+
			"ready pod since", "!last resort"),
		is("one whose pod never starts", held(since("statefulset", "keda-operator", 1, long), since(why.PodKind,
			"keda-operator-0", 1, long)), "C04 proven"),
		is("another name, with the program in the command line", orphan("applications", "argoproj.io",
			"resources-finalizer.argocd.argoproj.io", workload("statefulset", "cd", "gitops", 1,
				"application-controller", "argocd-application-controller")), "no C04"),
		is("its image is called like it", held(called(stopped("queues"), "manager", "keda-operator")), "C04 proven"),
		is("a program with the same letters", orphan("buckets", "s3.services.k8s.aws",
			"finalizers.s3.services.k8s.aws/Bucket", workload("deployment", "web", "backend", 1)),
			"C04 possible", "!web/backend runs, and may be ack"),
		is("another part runs, with rights and its image", onOps(challenge(stopped("cert-manager"), ops("issuer",
			"cert-manager"))), "C04 possible", "only missing: deployment ops/issuer runs, and may be cert-manager or "+
			"a part of it", "run: kubectl -n ops scale deployment/cert-manager --replicas=1"),
		is("its program runs under another name", onOps(challenge(ops("issuer", "cert-manager"))), "no C04"),
		is("it runs beside another part", onOps(challenge(ops("cert-manager"), ops("issuer", "cert-manager"))),
			"no C04"),
		is("another Helm release lost its Role", calm(challenge(stopped("cert-manager"), workload("deployment", "team",
			"team-cert-manager", 1, "cert-manager-controller"))), "C04 possible", "!loses: "),
		is("a part that only has its words, and runs", keda(workload("deployment", "keda",
			"keda-operator-metrics-apiserver", 1)), "C04 possible", "missing: deployment "+
			"keda/keda-operator-metrics-apiserver runs, and may be keda-operator or a part of it"),
		is("several programs are called so", orphan("persistentvolumeclaims", "",
			"provisioner.storage.kubernetes.io/cloning-protection", stopped("csi-provisioner")), "C04 possible",
			"missing: several programs are called csi-provisioner: which of them removes "+
				"provisioner.storage.kubernetes.io/cloning-protection is not known"),
		is("one of several programs called so runs", orphan("persistentvolumeclaims", "",
			"provisioner.storage.kubernetes.io/cloning-protection", ops("nfs", "csi-provisioner")), "C04 possible",
			"missing: several programs are called csi-provisioner", "!seems to be at work"),
		is("the owner of sources", sources(flux("source-controller")), "no C04", "source-controller, which seems to "+
			"be at work"),
		is("a stranger whose name ends with the owner's", sources(workload("deployment", "knative",
			"kafka-source-controller", 1)), "C04 possible", "!source-controller, which seems to be at work"),
		is("a release whose name ends with the owner's", sources(flux("eu-source-controller")), "C04 possible",
			"!source-controller, which seems to be at work"),
		is("an expired Lease", with(held(stopped("keda-operator")), leases(lease("keda-operator", time.Minute))),
			"C04 proven"),
		is("a renewed Lease while it is stopped", with(held(stopped("keda-operator")),
			leases(lease("keda-operator-metrics", 0))), "C04 possible", "only missing: Lease "+
			"kube-system/keda-operator-metrics is renewed, and may be that of the owner or of a part of it"),
		is("an expired Lease before a renewed one", with(held(), leases(lease("keda-operator-old", time.Minute),
			lease("keda-operator", 0))), "no C04"),
		is("its Deployment has one of two pods", calm(keda(why.Workload{Kind: "deployment", Namespace: "keda",
			Name: "keda-operator", Replicas: 2, Ready: 1})), "no C04", "waits for keda-operator, which seems to be "+
			"at work (deployment keda/keda-operator: 1 of 2 ready), to remove finalizer.keda.sh"),
		is("its Lease is the sign", calm(with(keda(), leases(lease("keda-operator", 0)))), "no C04",
			"(Lease kube-system/keda-operator is renewed)"),
		is("the controller that made a pod from a template does not remove its finalizer", orphan("pods", "",
			"example.com/x", workload("pod", "kube-system", "kube-controller-manager", 1)),
			"C24 possible", "!seems to be at work", "missing: the owner of example.com/x is unknown"),
		once("it works on another object", heldTwice("finalizer.keda.sh", stopped("keda-operator")),
			func(e *why.Evidence) {
				e.Second.Types[0].Objects[1].ResourceVersion = "9"
			}, "no C04"),
		once("samples a second apart", calm(held(stopped("keda-operator"))), func(e *why.Evidence) {
			e.Second.At = e.At.Add(time.Second)
		}, "C04 possible"),
		once("an object without a resourceVersion loses another finalizer", calm(held(stopped("keda-operator"))),
			func(e *why.Evidence) {
				a, b := object("a", "finalizer.keda.sh", "other.io/f"), object("a", "finalizer.keda.sh")
				a.ResourceVersion, b.ResourceVersion = "", ""
				e.Types[0].Objects, e.Second.Types[0].Objects = []why.Object{a}, []why.Object{b}
			}, "no C04"),
	})
	for ago, expired := range map[time.Duration]bool{time.Second: false, 14 * time.Second: false,
		16 * time.Second: true} {
		assert.Equal(t, expired, why.Lease{Holder: "a", Renewed: at.Add(-ago)}.Expired(at), "no duration, %s ago", ago)
	}
}

// called gives a workload the words of its command lines and images.
func called(w why.Workload, words ...string) why.Workload {
	w.Words = words
	return w
}

// What leads to an owner, and how it is brought back.
func TestAdviceAboutOwners(t *testing.T) {
	parts := func() why.Evidence {
		e := challenge(workload("deployment", "cert-manager", "cert-manager-cainjector", 0), workload("deployment",
			"cert-manager", "cert-manager", 0), workload("deployment", "cert-manager", "cert-manager-webhook", 1))
		for i := range e.Workloads.Items {
			e.Workloads.Items[i].Replicas = e.Workloads.Items[i].Ready
		}
		return with(e, grants(may("cert-manager", "*")))
	}
	judged(t, []row{
		is("a StatefulSet that was scaled down", held(since("statefulset", "keda-operator", 0, time.Hour)),
			"C04 proven", "\nrun: kubectl -n ops scale statefulset/keda-operator --replicas=1\n"),
		is("a DaemonSet", held(since("daemonset", "keda-operator", 0, time.Hour)), "C04 proven",
			"\nrun: kubectl -n ops describe daemonset keda-operator\n"),
		is("a Deployment that does not start", held(since("deployment", "keda-operator", 2, time.Hour)), "C04 proven",
			"\nrun: kubectl -n ops describe deployment keda-operator\n"),
		is("one in this namespace", held(workload("deployment", "shop", "keda-operator", 0)), "C04 proven",
			"do: run keda-operator in another namespace until the objects are gone: nothing starts in shop, which is "+
				"terminating", "!run: kubectl -n shop describe deployment"),
		is("of several stopped parts the owner", parts(), "C04 possible", "owner: cert-manager, unknown",
			"run: kubectl -n cert-manager scale deployment/cert-manager --replicas=1\n", "!cainjector"),
		is("an owner that no table has", orphan("databases", "example.com", "example.com/db"), "C04 possible",
			"run: kubectl -n shop get databases.example.com a -o yaml --show-managed-fields\n",
			"run: only after you have found its owner, and it does not come back: ", "--type=json", "loses: "),
		is("who may update a type says nothing of an owner that no table has", with(orphan("databases",
			"example.com", "example.com/db"), grants(may("shop", "example.com"))), "C04 possible", "!found: C05"),
	})
}

// A program removes its finalizer from the types that it handles. On an object of another type,
// another party has set it, so the owner is unknown.
func TestAFinalizerOnAForeignType(t *testing.T) {
	on := func(resource, finalizer string, manager why.Manager) why.Evidence {
		e := calm(orphan(resource, "", finalizer))
		e.Managers = answered("GET pods", manager)
		return e
	}
	two := on("configmaps", "kubernetes.io/pvc-protection", kcm(""))
	two.Types[0].Objects[0].Finalizers = append(two.Types[0].Objects[0].Finalizers, "example.com/x")
	judged(t, []row{
		is("a load balancer's", on("secrets", "service.kubernetes.io/load-balancer-cleanup", kcm("")), "C04 possible",
			"missing: the owner of service.kubernetes.io/load-balancer-cleanup is unknown", "verdict: unknown"),
		is("a claim's", on("configmaps", "kubernetes.io/pvc-protection", kcm("")), "C04 possible",
			"missing: the owner of kubernetes.io/pvc-protection is unknown", "verdict: unknown"),
		is("a Job's, whose controller is off", on("configmaps", jobTracking, kcm("*,-job-controller")), "C04 possible",
			"missing: the owner of "+jobTracking+" is unknown", "verdict: unknown"),
	})
	findings := why.Judge(two).Findings
	require.Len(t, findings, 2, "one for each finalizer")
	assert.Contains(t, findings[1].Missing, "the owner of example.com/x is unknown")
}

// C06: an owner that works and has lost its rights.
func TestAnOwnerWithoutRights(t *testing.T) {
	lacks := func(e why.Evidence) why.Evidence {
		refuse(&e, e.Workloads.Items[len(e.Workloads.Items)-1])
		return e
	}
	patch := func(change func(*why.Review)) func(*why.Evidence) {
		return func(e *why.Evidence) { change(&e.Reviews[1]) }
	}
	esAt := func(namespace string) why.Workload { return workload("deployment", namespace, "external-secrets", 1) }
	webhookPart := func(account string) why.Workload {
		w := workload("deployment", "es", "external-secrets-webhook", 1)
		w.ServiceAccount = account
		return w
	}
	stoppedPart := secrets(workload("deployment", "es", "external-secrets", 0),
		workload("deployment", "es", "external-secrets-cert-controller", 1, "external-secrets"))
	notAsOwner := workload("deployment", "es", "external-secrets-webhook", 1, "webhook")
	judged(t, []row{
		is("it may not update or patch", refusedSecrets(), "C06 possible", "only missing: whether "+
			"external-secrets works for shop, and under "+
			"its service account, was not seen"),
		once("it may patch", refusedSecrets(), patch(func(r *why.Review) { r.Allowed = true }), "no C06"),
		once("the review failed", refusedSecrets(), patch(func(r *why.Review) { r.Failed = noRight }), "no C06"),
		is("a pending pod of it", refusedSecrets(since(why.PodKind, "external-secrets-2", 1, time.Minute)),
			"C06 possible"),
		is("another part with the same account", refusedSecrets(webhookPart("")), "C06 possible"),
		once("another part with another account", refusedSecrets(webhookPart("")), func(e *why.Evidence) {
			e.Workloads.Items[1].ServiceAccount = "webhook"
		}, "no C06"),
		is("another installation has its rights", lacks(secrets(esAt("es-a"), esAt("es-b"))), "no C06"),
		is("a part of a stopped owner", lacks(stoppedPart), "no C06"),
		is("another part", lacks(secrets(notAsOwner)), "no C06"),
		is("another part of Argo CD, which needs no such right", lacks(orphan("applications", "argoproj.io",
			"resources-finalizer.argocd.argoproj.io", workload("deployment", "apps", "argocd-server", 1))),
			"no C06"),
		is("a workload with the owner's letters", lacks(orphan("machines", "cluster.x-k8s.io",
			"machine.cluster.x-k8s.io", workload("deployment", "apps", "landscape", 1))), "no C06"),
		is("a backend is not ACK", lacks(orphan("buckets", "s3.services.k8s.aws",
			"finalizers.s3.services.k8s.aws/Bucket", workload("deployment", "web", "backend", 1))), "no C06"),
	})
}

// C15: the load balancer of a Service.
func TestLoadBalancers(t *testing.T) {
	cloud := workload("deployment", "kube-system", "cloud-controller-manager", 0)
	cloud.Replicas = 0
	judged(t, []row{
		is("the controllers of many clouds run outside", balanced(), "C15 possible", "owner: "+
			"cloud-controller-manager, not in this cluster", "!found: C04"),
		is("one that is scaled down", balanced(cloud), "C15 proven", `"op":"remove"`, "run: kubectl -n kube-system "+
			"scale deployment/cloud-controller-manager --replicas=1"),
	})
}

// C25: a definition goes with its objects. C26: an owner waits for its dependents.
func TestDefinitionsAndDependents(t *testing.T) {
	operator := workload("deployment", "keda", "keda-operator", 1)
	deployment, set := object("d", "foregroundDeletion"), object("r", "foregroundDeletion")
	set = dependent(set, "Deployment", deployment)
	leaf := dependent(object("p", "example.com/x"), "ReplicaSet", set)
	chain := func(pod why.Object) why.Evidence {
		return calm(plain(typeOf("apps", "replicasets", set), typeOf("apps", "deployments", deployment),
			typeOf("", "pods", pod)))
	}
	root, a, b := object("r", "foregroundDeletion"), object("a", "example.com/x"), object("b", "example.com/x")
	a = dependent(dependent(a, "ConfigMap", root), "ConfigMap", b)
	b = dependent(b, "ConfigMap", a)
	mounted := dependent(object("data", "kubernetes.io/pvc-protection"), "Deployment", deployment)
	unseen := plain(typeOf("apps", "deployments", deployment), typeOf("", "persistentvolumeclaims", mounted))
	unseen.Managers = refused[why.Manager]()
	namesake := object("d", "foregroundDeletion")
	namesake.UID = "another"
	alone := func(all ...why.Manager) why.Evidence {
		return unmanaged(plain(typeOf("apps", "replicasets", namesake), typeOf("", "pods")), all...)
	}
	blocked := dependent(object("leaf", "example.com/x"), "Deployment", deployment)
	both := calm(plain(typeOf("apps", "deployments", deployment), typeOf("", "configmaps", blocked),
		typeOf("apps", "replicasets", namesake)))
	const off = "*,-job-controller,-garbage-collector-controller"
	asLeaf := namesake
	asLeaf.Name = "leaf"
	likeLeaf := calm(plain(typeOf("apps", "deployments", deployment), typeOf("", "configmaps", blocked),
		typeOf("apps", "replicasets", asLeaf)))
	twice := dependent(object("p", "example.com/x", "example.com/y"), "ReplicaSet", set)
	judged(t, []row{
		is("one that is called like the dependent", unmanaged(likeLeaf, kcm(off)), "C26 possible",
			"found: C04 proven replicasets.apps/leaf"),
		is("a pod with two finalizers in a chain", chain(twice), "C26 possible",
			"only found: C26 possible pods/p"),
		is("an object without a dependent, whose collector is off", alone(kcm(off)), "C04 proven"),
		is("an object without a dependent, whose collector is not seen", alone(), "C04 possible"),
		is("an object without a dependent, whose collector works", calm(alone(kcm(""))), "no C04"),
		is("one with a dependent beside it, whose collector is off", unmanaged(both, kcm(off)), "C26 possible",
			"only found: C04 possible configmaps/leaf | C04 proven replicasets.apps/d | C26 possible "+
				"configmaps/leaf"),
		is("a definition whose object an owner keeps", defined(), "C25 proven", "run: kubectl -n shop describe "+
			"scaledobjects.keda.sh a"),
		is("its owner is at work", defined(operator), "C25 possible", "only missing: keda-operator seems to be at "+
			"work"),
		once("its objects have no finalizer", defined(), func(e *why.Evidence) {
			e.Types[0].Objects, e.Second.Types[0].Objects = []why.Object{object("a")}, []why.Object{object("a")}
		}, "C25 possible"),
		once("its objects become fewer", defined(), func(e *why.Evidence) { e.Types[0].Count += 3 }, "no C25"),
		is("another type has objects, too", add(defined(), typeOf("example.com", "queues", object("q",
			"example.com/x"))), "C25 proven"),
		is("the owner of the dependent's finalizer is at work", foreground(operator), "C26 possible",
			"only missing: keda-operator seems to be at work", "!Besides"),
		once("the dependent may end by itself", foreground(operator), func(e *why.Evidence) {
			e.Types[0].Objects[0].Deleted = later.Add(time.Minute)
		}, "no C26"),
		is("a chain of owners, told once", chain(leaf), "C26 possible", "says: deployments.apps/d waits for its "+
			"dependent pods/p\n",
			"!found: C24", "proof: pods/p has example.com/x", "proof: replicasets.apps/r has deployments.apps/d as "+
				"its owner, with blockOwnerDeletion", "proof: pods/p has replicasets.apps/r as its owner, with "+
				"blockOwnerDeletion"),
		is("objects that own each other", calm(plain(typeOf("", "configmaps", root, a, b))), "C26 possible",
			"says: configmaps/r waits for its dependent configmaps/b"),
		is("a controller that cannot be seen", unseen, "C26 possible", "found: C30 proven ",
			"only missing: whether persistentvolumeclaim-protection-controller runs could not be seen: "+
				noRight.Message),
	})
}

// What waits for an owner at work is told beside a finding and beside a wait.
func TestAnOwnerAtWorkBesideSomethingElse(t *testing.T) {
	const besides = "Besides, 1 object of type applications.argoproj.io waits for argocd-application-controller"
	pod := ending(15*time.Minute, "p")
	inGrace := onReadyNode(pod)
	waiting := add(application(), typeOf("", "pods", pod))
	waiting.Pods, waiting.Nodes, waiting.Leases = inGrace.Pods, inGrace.Nodes, inGrace.Leases
	waiting.Pods[0].Running = []string{"c"}
	const reports, group = "vulnerabilityreports", "aquasecurity.github.io"
	beside := func(all ...why.Workload) why.Evidence {
		return add(held(append([]why.Workload{stopped("keda-operator")}, all...)...),
			typeOf("external-secrets.io", "pushsecrets", object("p", "pushsecret.externalsecrets.io/finalizer")))
	}
	es := workload("deployment", "external-secrets", "external-secrets", 1)
	judged(t, []row{
		is("pods in their grace period go first", waiting, "progressing", "1 pod may run until", besides),
		is("objects that have gone", shrinks(application(), group, reports), "unknown", besides),
		is("objects that go", shrinks(application(), group, reports, object("a")), "unknown", besides),
		is("a finding", beside(es), "C04 proven",
			" waits. Besides, 1 object of type pushsecrets.external-secrets.io waits for "+
				"external-secrets, which seems to be at work"),
		is("a finding, and no owner at work", beside(), "C04 proven", "!Besides"),
		is("without the token its content is not waited for any more", withoutToken(beside(es)), "C16 proven",
			"!Besides"),
	})
}

// Each row of the table is found by its finalizer on the types that it names, and so are
// those of patterns that overlap, as reports of stuck namespaces show them.
func TestOwnersOfTheirTypes(t *testing.T) {
	rows := why.Keepers()
	assert.Greater(t, len(rows), 40)
	keeper := func(finalizer, on string) why.Keeper {
		resource, group, _ := strings.Cut(on, ".")
		found := why.Held{Type: &why.Type{Group: group, Resource: resource}, Finalizer: finalizer}.Keeper()
		assert.True(t, found.Known(), "%s on %s", finalizer, on)
		return found
	}
	for _, row := range rows {
		for _, on := range append(row.Types, "configmaps")[:max(1, len(row.Types))] {
			found := keeper(strings.ReplaceAll(row.Pattern, "*", "any"), strings.ReplaceAll(on, "*", "any"))
			assert.Equal(t, []string{row.Pattern, row.Name}, []string{found.Pattern, found.Name})
		}
	}
	for _, test := range []struct{ finalizer, on, owner string }{
		{"group.ingress.k8s.aws/shared", "ingresses.networking.k8s.io", "aws-load-balancer-controller"},
		{"finalizers.s3.services.k8s.aws/Bucket", "buckets.s3.services.k8s.aws", "ack"},
		{"machine.cluster.x-k8s.io", "machines.cluster.x-k8s.io", "capi-controller-manager"},
		{"helmchartproxy.addons.cluster.x-k8s.io", "helmchartproxies.addons.cluster.x-k8s.io",
			"an add-on provider of Cluster API"},
		{"kubeadm.controlplane.cluster.x-k8s.io", "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io",
			"a control plane provider of Cluster API"},
		{"awsmachine.infrastructure.cluster.x-k8s.io", "awsmachines.infrastructure.cluster.x-k8s.io",
			"an infrastructure provider of Cluster API"},
		{"resources-finalizer.argocd.argoproj.io/background", "applications.argoproj.io",
			"argocd-application-controller"},
		{"post-delete-finalizer.argocd.argoproj.io/cleanup", "applications.argoproj.io",
			"argocd-application-controller"},
		{"cnpg.io/deleteDatabase", "databases.postgresql.cnpg.io", "cloudnative-pg"},
		{"externalsecrets.external-secrets.io/externalsecret-cleanup", "externalsecrets.external-secrets.io",
			"external-secrets"},
		{"cluster.cluster.x-k8s.io", "clusters.cluster.x-k8s.io", "capi-controller-manager"},
		{"machineset.cluster.x-k8s.io", "clusters.cluster.x-k8s.io", "capi-controller-manager"},
		{"fleet.addons.cluster.x-k8s.io", "clusters.cluster.x-k8s.io", "an add-on provider of Cluster API"},
		{"topology.cluster.x-k8s.io", "clusters.cluster.x-k8s.io", "a provider of Cluster API"},
		{"docker.infrastructure.cluster.x-k8s.io", "clusters.cluster.x-k8s.io", "an infrastructure provider of " +
			"Cluster API"},
	} {
		found := keeper(test.finalizer, test.on)
		assert.Equal(t, test.owner, found.Name, test.finalizer)
		if test.on == "clusters.cluster.x-k8s.io" {
			assert.Equal(t, test.owner != "capi-controller-manager", found.Many, test.finalizer)
		}
	}
}
