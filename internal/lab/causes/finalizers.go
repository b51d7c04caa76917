package causes

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"orrery/internal/why"
	"orrery/restclient/api"
)

const (
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	rbacAPI     = "/apis/rbac.authorization.k8s.io/v1"
)

// operator is a well-known program with a Deployment in a namespace of its own, a type, and a
// finalizer on its objects.
type operator struct {
	namespace, deployment, image string
	group, plural, kind          string
	finalizer                    string
}

// Each fixture that needs an operator has one of its own, so that two fixtures fit into one
// namespace.
var (
	keda            = operator{"keda", "keda-operator", "ghcr.io/kedacore/keda:2", "keda.sh", "scaledobjects", "ScaledObject", "finalizer.keda.sh"}
	strimzi         = operator{"kafka", "strimzi-cluster-operator", "quay.io/strimzi/operator:1", "kafka.strimzi.io", "kafkatopics", "KafkaTopic", "strimzi.io/topic-operator"}
	externalSecrets = operator{"external-secrets", "external-secrets", "ghcr.io/external-secrets/external-secrets:2", "external-secrets.io",
		"pushsecrets", "PushSecret", "pushsecret.externalsecrets.io/finalizer"}
	certManager = operator{"cert-manager", "cert-manager", "quay.io/jetstack/cert-manager-controller:1", "acme.cert-manager.io", "challenges", "Challenge",
		"acme.cert-manager.io/finalizer"}
	kuberay = operator{"ray-system", "kuberay-operator", "quay.io/kuberay/operator:1", "ray.io", "rayclusters", "RayCluster", "ray.io/gcs-ft-redis-cleanup-finalizer"}
	velero  = operator{"velero", "velero", "velero/velero:1", "velero.io", "podvolumebackups", "PodVolumeBackup", "velero.io/pod-volume-finalizer"}
	argo    = operator{"argo", "workflow-controller", "quay.io/argoproj/workflow-controller:4", "argoproj.io", "workflows", "Workflow", "workflows.argoproj.io/artifact-gc"}

	operators = []operator{keda, strimzi, externalSecrets, certManager, kuberay, velero, argo}
)

// typeName is kubectl's name of the operator's type, and that of its definition.
func (o operator) typeName() string { return o.plural + "." + o.group }

func (o operator) definition() string { return definitions + "/" + o.typeName() }

// objects is the path of its objects in the fixtures' namespace.
func (o operator) objects() string {
	return "/apis/" + o.group + "/v1alpha1/namespaces/" + Namespace + "/" + o.plural
}

func (o operator) deployments() string {
	return "/apis/apps/v1/namespaces/" + o.namespace + "/deployments"
}

// body is an object of the operator's type.
func (o operator) body(name string, finalizers ...string) string {
	metadata := `{"name":"` + name + `"}`
	if len(finalizers) > 0 {
		metadata = `{"name":"` + name + `","finalizers":["` + strings.Join(finalizers, `","`) + `"]}`
	}
	return `{"apiVersion":"` + o.group + `/v1alpha1","kind":"` + o.kind + `","metadata":` + metadata + `}`
}

// operated creates the namespace, an operator's type, and its Deployment. No pod of it runs.
func (w *World) operated(o operator) {
	w.namespace()
	w.create(definitions, `{"metadata":{"name":"`+o.typeName()+`"},"spec":{"group":"`+o.group+`","scope":"Namespaced",
		"names":{"plural":"`+o.plural+`","singular":"`+strings.ToLower(o.kind)+`","kind":"`+o.kind+`"},
		"versions":[{"name":"v1alpha1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`)
	w.create("/api/v1/namespaces", `{"metadata":{"name":"`+o.namespace+`"}}`)
	w.create(o.deployments(), `{"metadata":{"name":"`+o.deployment+`"},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"operator"}},
		"template":{"metadata":{"labels":{"app":"operator"}},"spec":{"serviceAccountName":"operator","containers":[{"name":"c","image":"`+o.image+`"}]}}}}`)
	w.sleep(2 * time.Second)
}

// managed creates an object with the operator's finalizer.
func (w *World) managed(o operator, name string) { w.create(o.objects(), o.body(name, o.finalizer)) }

// running says that one pod of the operator is ready.
func (w *World) running(o operator) {
	w.patch(o.deployments()+"/"+o.deployment+"/status", `{"status":{"replicas":1,"readyReplicas":1}}`)
}

// mayUpdate lets a service account update an operator's objects in the whole cluster.
func (w *World) mayUpdate(o operator, binding, namespace, account string) {
	w.create(rbacAPI+"/clusterroles", `{"metadata":{"name":"`+binding+`"},"rules":[{"apiGroups":["`+o.group+`"],"resources":["`+o.plural+`"],"verbs":["update","patch"]}]}`)
	w.create(rbacAPI+"/clusterrolebindings", `{"metadata":{"name":"`+binding+`"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",
		"name":"`+binding+`"},"subjects":[{"kind":"ServiceAccount","namespace":"`+namespace+`","name":"`+account+`"}]}`)
}

func finalizerFixtures() []Fixture {
	orders := func(o operator) why.Reference {
		return why.Reference{Resource: o.typeName(), Namespace: Namespace, Name: "orders"}
	}
	ready := func(w *World) {
		w.operated(externalSecrets)
		w.running(externalSecrets)
		w.managed(externalSecrets, "orders")
		w.terminate()
	}
	return []Fixture{{
		ID: "C04", Culprit: orders(keda),
		SetUp: func(w *World) {
			w.operated(keda)
			w.managed(keda, "orders")
			w.mayUpdate(keda, "keda", "keda", "operator")
			w.terminate()
		},
		NearMiss: func(w *World) { // the Deployment is ready: slow
			w.operated(keda)
			w.running(keda)
			w.managed(keda, "orders")
			w.terminate()
		},
	}, {
		ID: "C05", Culprit: orders(strimzi),
		SetUp: func(w *World) {
			w.operated(strimzi)
			w.managed(strimzi, "orders")
			w.mayUpdate(strimzi, "strimzi", Namespace, "topic-operator")
			w.terminate()
		},
		NearMiss: func(w *World) { // a second account, elsewhere, with a pod
			w.operated(strimzi)
			w.managed(strimzi, "orders")
			w.mayUpdate(strimzi, "strimzi", Namespace, "topic-operator")
			w.mayUpdate(strimzi, "backup", "kafka", "backup")
			w.create("/api/v1/namespaces/kafka/serviceaccounts", `{"metadata":{"name":"backup"}}`)
			w.create("/api/v1/namespaces/kafka/pods", `{"metadata":{"name":"b"},"spec":{"serviceAccountName":"backup","containers":[{"name":"c","image":"i"}]}}`)
			w.terminate()
		},
	}, {
		ID: "C06", Culprit: orders(externalSecrets),
		SetUp: func(w *World) {
			w.broken("role-is-missing", "forbid:verb=update|patch,resource=pushsecrets,user=system:serviceaccount:external-secrets:operator")
			w.fault("forbid:verb=impersonate,resource=serviceaccounts,user=system:serviceaccount:external-secrets:operator")
			ready(w)
			w.background(func(other *World) { // the operator tries again and again
				other.until("role-is-missing")
				other.release(externalSecrets.objects() + "/orders")
			})
		},
		NearMiss: ready, // the review allows
	}, {
		ID: "C15", Culprit: why.Reference{Resource: "services", Namespace: Namespace, Name: "web"},
		SetUp: func(w *World) {
			w.namespace()
			w.balancer()
			w.stopped("kube-system", "cloud-controller-manager")
			w.outside("balancer-of-web")
			w.terminate()
		},
		NearMiss: func(w *World) { // the cloud's controller is ready: slow
			w.namespace()
			w.balancer()
			w.stopped("kube-system", "cloud-controller-manager")
			w.patch(systemDeployments+"/cloud-controller-manager/status", `{"status":{"replicas":1,"readyReplicas":1}}`)
			w.terminate()
		},
	}}
}

const systemDeployments = "/apis/apps/v1/namespaces/kube-system/deployments"

// stopped creates a Deployment without pods, by which the owner of a finalizer is known to be gone.
func (w *World) stopped(namespace, name string) {
	w.create("/apis/apps/v1/namespaces/"+namespace+"/deployments", `{"metadata":{"name":"`+name+`"},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"`+name+`"}},
		"template":{"metadata":{"labels":{"app":"`+name+`"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
}

// balancer creates a Service with a load balancer and the cloud controller's finalizer.
func (w *World) balancer() {
	const services = "/api/v1/namespaces/" + Namespace + "/services"
	w.create(services, `{"metadata":{"name":"web","finalizers":["service.kubernetes.io/load-balancer-cleanup"]},"spec":{"type":"LoadBalancer","ports":[{"port":80}]}}`)
	w.patch(services+"/web/status", `{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`)
}

func contentFixtures() []Fixture {
	definition := why.Reference{Resource: "customresourcedefinitions", Name: certManager.typeName()}
	return []Fixture{{
		ID: "C25", Culprit: definition, Also: []string{"C04"},
		SetUp: func(w *World) {
			w.operated(certManager)
			w.managed(certManager, "orders")
			w.delete(certManager.definition())
			w.terminate()
		},
		NearMiss: func(w *World) { // an object of it is in another namespace
			w.operated(certManager)
			w.running(certManager)
			w.create("/apis/acme.cert-manager.io/v1alpha1/namespaces/cert-manager/challenges", certManager.body("o", certManager.finalizer))
			w.configMap("a", `"finalizers":["example.com/x"]`)
			w.delete(certManager.definition())
			w.terminate()
		},
	}, {
		ID: "C26", Culprit: why.Reference{Resource: "pods", Namespace: Namespace, Name: "leaf"},
		SetUp:    func(w *World) { w.family(true) },
		NearMiss: func(w *World) { w.family(false) }, // it does not block its owner
	}, {
		ID: "C27", Culprit: why.Reference{Resource: "podtemplates", Namespace: Namespace, Name: "*"}, Settle: 1500 * time.Millisecond,
		SetUp: func(w *World) {
			w.namespace()
			for i := range 40 {
				w.podTemplate(name(i))
			}
			w.terminate()
			w.sleep(Settled + 500*time.Millisecond)
			w.background(func(other *World) { // releases one a second, between the passes of the controller
				for i := range 40 {
					other.release(podTemplates + "/" + name(i))
					other.sleep(time.Second)
				}
			})
		},
		NearMiss: func(w *World) { // the counts stay equal
			w.namespace()
			w.podTemplate("a")
			w.terminate()
			w.sleep(Settled)
		},
	}, {
		ID: "C28", Culprit: why.Reference{Resource: "configmaps", Namespace: Namespace, Name: "*"},
		SetUp: func(w *World) {
			w.namespace()
			w.broken("gitops-keeps-creating", "keeps-creating:every=100ms,namespace="+Namespace+",manager=gitops",
				"delay:by=300ms,verb=list,resource=configmaps,namespace="+Namespace) // more come between a deletion and the next list
			w.terminate()
		},
		NearMiss: func(w *World) { // it has stopped, and a finalizer keeps what is older
			w.namespace()
			w.configMap("a", `"finalizers":["example.com/x"]`)
			w.broken("gitops-keeps-creating", "keeps-creating:namespace="+Namespace+",manager=gitops")
			w.terminate()
			w.sleep(30 * time.Second)
			w.repair("gitops-keeps-creating")
		},
	}}
}

const podTemplates = "/api/v1/namespaces/" + Namespace + "/podtemplates"

// podTemplate creates a PodTemplate with a finalizer that no table lists.
func (w *World) podTemplate(name string) {
	w.create(podTemplates, `{"metadata":{"name":"`+name+`","finalizers":["example.com/x"]},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}`)
}

func name(i int) string { return "c" + string(rune('a'+i/26)) + string(rune('a'+i%26)) }

// family creates an owner in foreground deletion, and a pod that depends on it and that a finalizer
// keeps, whose own owner is stopped. While there are pods the controller touches nothing else;
// later its own deletion, in the background, would release the owner.
func (w *World) family(blocks bool) {
	w.namespace()
	w.stopped("default", "kueue-controller-manager")
	const replicaSets = "/apis/apps/v1/namespaces/" + Namespace + "/replicasets"
	w.create(replicaSets, `{"metadata":{"name":"owner"},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"a"}},
		"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	var owner api.PartialObjectMetadata
	w.read(replicaSets+"/owner", &owner)
	w.pod("leaf", `"finalizers":["kueue.x-k8s.io/managed"],"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"owner","uid":"`+owner.UID+
		`","blockOwnerDeletion":`+strconv.FormatBool(blocks)+`}]`, `"terminationGracePeriodSeconds":5`)
	w.do(http.MethodDelete, replicaSets+"/owner", `{"propagationPolicy":"Foreground"}`)
	w.terminate()
}
