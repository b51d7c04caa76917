package causes

import (
	"net/http"
	"strconv"
	"time"

	"orrery/internal/why"
	"orrery/restclient/api"
)

const (
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	deployments = "/apis/apps/v1/namespaces/keda/deployments"
	scaled      = "/apis/keda.sh/v1alpha1/namespaces/" + Namespace + "/scaledobjects"
	rbacAPI     = "/apis/rbac.authorization.k8s.io/v1"
)

// operated creates the namespace, the type scaledobjects.keda.sh, and the operator's Deployment in the namespace keda. No pod of
// it runs.
func (w *World) operated() {
	w.namespace("")
	w.create(definitions, `{"metadata":{"name":"scaledobjects.keda.sh"},"spec":{"group":"keda.sh","scope":"Namespaced",
		"names":{"plural":"scaledobjects","singular":"scaledobject","kind":"ScaledObject"},
		"versions":[{"name":"v1alpha1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`)
	w.create("/api/v1/namespaces", `{"metadata":{"name":"keda"}}`)
	w.create(deployments, `{"metadata":{"name":"keda-operator"},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"keda"}},
		"template":{"metadata":{"labels":{"app":"keda"}},"spec":{"serviceAccountName":"keda","containers":[{"name":"c","image":"ghcr.io/kedacore/keda:2"}]}}}}`)
	w.sleep(2 * time.Second)
}

// scaledObject creates an object with the operator's finalizer.
func (w *World) scaledObject(name string) {
	w.create(scaled, `{"apiVersion":"keda.sh/v1alpha1","kind":"ScaledObject","metadata":{"name":"`+name+`","finalizers":["finalizer.keda.sh"]}}`)
}

// running says that one pod of the operator is ready.
func (w *World) running() {
	w.patch(deployments+"/keda-operator/status", `{"status":{"replicas":1,"readyReplicas":1}}`)
}

// mayUpdate lets a service account update scaled objects in the whole cluster.
func (w *World) mayUpdate(binding, namespace, account string) {
	w.create(rbacAPI+"/clusterroles", `{"metadata":{"name":"`+binding+`"},"rules":[{"apiGroups":["keda.sh"],"resources":["scaledobjects"],"verbs":["update","patch"]}]}`)
	w.create(rbacAPI+"/clusterrolebindings", `{"metadata":{"name":"`+binding+`"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",
		"name":"`+binding+`"},"subjects":[{"kind":"ServiceAccount","namespace":"`+namespace+`","name":"`+account+`"}]}`)
}

func finalizerFixtures() []Fixture {
	orders := why.Reference{Resource: "scaledobjects.keda.sh", Namespace: Namespace, Name: "orders"}
	ready := func(w *World) {
		w.operated()
		w.running()
		w.scaledObject("orders")
		w.terminate()
	}
	return []Fixture{{
		ID: "C04", Culprit: orders,
		SetUp: func(w *World) {
			w.operated()
			w.scaledObject("orders")
			w.mayUpdate("keda", "keda", "keda")
			w.terminate()
		},
		NearMiss: func(w *World) { // the Deployment is ready: slow
			w.operated()
			w.running()
			w.scaledObject("orders")
			w.terminate()
		},
	}, {
		ID: "C05", Culprit: orders,
		SetUp: func(w *World) {
			w.operated()
			w.scaledObject("orders")
			w.mayUpdate("keda", Namespace, "keda")
			w.terminate()
		},
		NearMiss: func(w *World) { // a second account, elsewhere, with a pod
			w.operated()
			w.scaledObject("orders")
			w.mayUpdate("keda", Namespace, "keda")
			w.mayUpdate("backup", "keda", "backup")
			w.create("/api/v1/namespaces/keda/serviceaccounts", `{"metadata":{"name":"backup"}}`)
			w.create("/api/v1/namespaces/keda/pods", `{"metadata":{"name":"b"},"spec":{"serviceAccountName":"backup","containers":[{"name":"c","image":"i"}]}}`)
			w.terminate()
		},
	}, {
		ID: "C06", Culprit: orders,
		SetUp: func(w *World) {
			w.broken("role-is-missing", "forbid:verb=update|patch,resource=scaledobjects,user=system:serviceaccount:keda:keda")
			ready(w)
			w.background(func(other *World) { // the operator tries again and again
				other.until("role-is-missing")
				other.release(scaled + "/orders")
			})
		},
		NearMiss: ready, // the review allows
	}, {
		ID: "C15", Culprit: why.Reference{Resource: "services", Namespace: Namespace, Name: "web"},
		SetUp: func(w *World) {
			w.namespace("")
			w.balancer()
			w.outside("balancer-of-web")
			w.terminate()
		},
		NearMiss: func(w *World) { // the cloud's controller is ready: slow
			w.namespace("")
			w.balancer()
			w.create("/apis/apps/v1/namespaces/kube-system/deployments", `{"metadata":{"name":"cloud-controller-manager"},"spec":{"replicas":0,
				"selector":{"matchLabels":{"app":"ccm"}},"template":{"metadata":{"labels":{"app":"ccm"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
			w.patch("/apis/apps/v1/namespaces/kube-system/deployments/cloud-controller-manager/status", `{"status":{"replicas":1,"readyReplicas":1}}`)
			w.terminate()
		},
	}}
}

// balancer creates a Service with a load balancer and the cloud controller's finalizer.
func (w *World) balancer() {
	const services = "/api/v1/namespaces/" + Namespace + "/services"
	w.create(services, `{"metadata":{"name":"web","finalizers":["service.kubernetes.io/load-balancer-cleanup"]},"spec":{"type":"LoadBalancer","ports":[{"port":80}]}}`)
	w.patch(services+"/web/status", `{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`)
}

func contentFixtures() []Fixture {
	definition := why.Reference{Resource: "customresourcedefinitions", Name: "scaledobjects.keda.sh"}
	return []Fixture{{
		ID: "C25", Culprit: definition,
		SetUp: func(w *World) {
			w.operated()
			w.running()
			w.scaledObject("orders")
			w.delete(definitions + "/scaledobjects.keda.sh")
			w.terminate()
		},
		NearMiss: func(w *World) { // an object of it is in another namespace
			w.operated()
			w.running()
			w.create("/apis/keda.sh/v1alpha1/namespaces/keda/scaledobjects", `{"apiVersion":"keda.sh/v1alpha1","kind":"ScaledObject",
				"metadata":{"name":"o","finalizers":["finalizer.keda.sh"]}}`)
			w.configMap("a", `"finalizers":["example.com/x"]`)
			w.delete(definitions + "/scaledobjects.keda.sh")
			w.terminate()
		},
	}, {
		ID: "C26", Culprit: why.Reference{Resource: "pods", Namespace: Namespace, Name: "leaf"},
		SetUp:    func(w *World) { w.family(true) },
		NearMiss: func(w *World) { w.family(false) }, // it does not block its owner
	}, {
		ID: "C27", Culprit: why.Reference{Resource: "configmaps", Namespace: Namespace, Name: "*"}, Settle: time.Second,
		SetUp: func(w *World) {
			w.namespace("")
			for i := range 40 {
				w.configMap(name(i), `"finalizers":["example.com/x"]`)
			}
			w.terminate()
			w.sleep(Settled)
			w.background(func(other *World) { // releases one a second
				for i := range 40 {
					other.release("/api/v1/namespaces/" + Namespace + "/configmaps/" + name(i))
					other.sleep(time.Second)
				}
			})
		},
		NearMiss: func(w *World) { // the counts stay equal
			w.namespace("")
			w.configMap("a", `"finalizers":["example.com/x"]`)
			w.terminate()
			w.sleep(Settled)
		},
	}, {
		ID: "C28", Culprit: why.Reference{Resource: "configmaps", Namespace: Namespace, Name: "*"},
		SetUp: func(w *World) {
			w.namespace("")
			w.broken("gitops-keeps-creating", "keeps-creating:every=100ms,namespace="+Namespace+",manager=gitops",
				"delay:by=300ms,verb=list,resource=configmaps,namespace="+Namespace) // more come between a deletion and the next list
			w.terminate()
		},
		NearMiss: func(w *World) { // it has stopped, and a finalizer keeps what is older
			w.namespace("")
			w.configMap("a", `"finalizers":["example.com/x"]`)
			w.broken("gitops-keeps-creating", "keeps-creating:namespace="+Namespace+",manager=gitops")
			w.terminate()
			w.sleep(30 * time.Second)
			w.repair("gitops-keeps-creating")
		},
	}}
}

func name(i int) string { return "c" + string(rune('a'+i/26)) + string(rune('a'+i%26)) }

// family creates an owner in foreground deletion, and a pod that depends on it and that a finalizer keeps. While there are
// pods the controller touches nothing else; later its own deletion, in the background, would release the owner.
func (w *World) family(blocks bool) {
	w.namespace("")
	var owner api.PartialObjectMetadata
	w.configMap("owner", "")
	w.read("/api/v1/namespaces/"+Namespace+"/configmaps/owner", &owner)
	w.pod("leaf", `"finalizers":["example.com/x"],"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+owner.UID+
		`","blockOwnerDeletion":`+strconv.FormatBool(blocks)+`}]`, `"terminationGracePeriodSeconds":5`)
	w.do(http.MethodDelete, "/api/v1/namespaces/"+Namespace+"/configmaps/owner", `{"propagationPolicy":"Foreground"}`)
	w.terminate()
}
