package causes

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
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
	keda = operator{"keda", "keda-operator", "ghcr.io/kedacore/keda:2",
		"keda.sh", "scaledobjects", "ScaledObject", "finalizer.keda.sh"}
	strimzi = operator{"kafka", "strimzi-cluster-operator", "quay.io/strimzi/operator:1",
		"kafka.strimzi.io", "kafkatopics", "KafkaTopic", "strimzi.io/topic-operator"}
	externalSecrets = operator{"external-secrets", "external-secrets", "ghcr.io/external-secrets/external-secrets:2",
		"external-secrets.io", "pushsecrets", "PushSecret", "pushsecret.externalsecrets.io/finalizer"}
	certManager = operator{"cert-manager", "cert-manager", "quay.io/jetstack/cert-manager-controller:1",
		"acme.cert-manager.io", "challenges", "Challenge", "acme.cert-manager.io/finalizer"}
	kuberay = operator{"ray-system", "kuberay-operator", "quay.io/kuberay/operator:1",
		"ray.io", "rayclusters", "RayCluster", "ray.io/gcs-ft-redis-cleanup-finalizer"}
	velero = operator{"velero", "velero", "velero/velero:1",
		"velero.io", "podvolumebackups", "PodVolumeBackup", "velero.io/pod-volume-finalizer"}
	argo = operator{"argo", "workflow-controller", "quay.io/argoproj/workflow-controller:4",
		"argoproj.io", "workflows", "Workflow", "workflows.argoproj.io/artifact-gc"}

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
	metadata := []string{}
	if len(finalizers) > 0 {
		metadata = append(metadata, kept(finalizers...))
	}
	return `{"apiVersion":"` + o.group + `/v1alpha1","kind":"` + o.kind + `",` + named(name, metadata...)[1:]
}

// operated creates an operator's type, and its Deployment. No pod of it runs.
func operated(o operator) step {
	return then(
		create(definitions, `{"metadata":{"name":"`+o.typeName()+`"},"spec":{"group":"`+o.group+`","scope":"Namespaced",
			"names":{"plural":"`+o.plural+`","singular":"`+strings.ToLower(o.kind)+`","kind":"`+o.kind+`"},
			"versions":[{"name":"v1alpha1","served":true,"storage":true,
				"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`),
		create(allNamespaces, named(o.namespace)),
		stopped(o.deployments(), o.deployment,
			`"serviceAccountName":"operator","containers":[{"name":"c","image":"`+o.image+`"}]`),
		sleep(2*time.Second),
	)
}

// stopped creates a Deployment or another set without pods. By it the owner of a finalizer is seen
// to be stopped.
func stopped(path, name, podSpec string) step {
	return create(path, `{"metadata":{"name":"`+name+`"},"spec":{"replicas":0,
		"selector":{"matchLabels":{"app":"`+name+`"}},
		"template":{"metadata":{"labels":{"app":"`+name+`"}},"spec":{`+podSpec+`}}}}`)
}

// managed creates an object with the operator's finalizer.
func managed(o operator) step { return create(o.objects(), o.body("orders", o.finalizer)) }

// oneReady is the status of a Deployment with a ready pod.
const oneReady = `{"status":{"replicas":1,"readyReplicas":1}}`

// running says that one pod of the operator is ready.
func running(o operator) step { return patch(o.deployments()+"/"+o.deployment+"/status", oneReady) }

// mayUpdate lets a service account update an operator's objects in the whole cluster.
func mayUpdate(o operator, binding, namespace, account string) step {
	return then(
		create(rbacAPI+"/clusterroles", `{"metadata":{"name":"`+binding+`"},
			"rules":[{"apiGroups":["`+o.group+`"],"resources":["`+o.plural+`"],"verbs":["update","patch"]}]}`),
		create(rbacAPI+"/clusterrolebindings", `{"metadata":{"name":"`+binding+`"},
			"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"`+binding+`"},
			"subjects":[{"kind":"ServiceAccount","namespace":"`+namespace+`","name":"`+account+`"}]}`),
	)
}

// condition writes a condition of the namespace about its content that is older than everything.
func condition(status, reason, message string) step {
	return patch(inNamespace+"/status", `{"status":{"conditions":[{
		"type":"NamespaceContentRemaining","status":"`+status+`","reason":"`+reason+`",
		"message":"`+message+`","lastTransitionTime":"2000-01-01T00:00:00Z"}]}}`)
}

// finalizer adds a finalizer to the namespace's metadata.
func finalizer(name string) step {
	return func(w *World) {
		var there api.PartialObjectMetadata
		w.read(inNamespace, &there)
		patch(inNamespace, `{"metadata":{`+kept(append(there.Finalizers, name)...)+`}}`)(w)
	}
}

// tokens changes spec.finalizers of the namespace.
func tokens(change func(tokens []string) []string) step {
	return func(w *World) {
		namespace := &api.Unstructured{}
		w.read(inNamespace, &namespace.Object)
		if w.err != nil {
			return
		}
		left := []any{}
		for _, token := range change(namespace.NestedStringSlice("spec", "finalizers")) {
			left = append(left, token)
		}
		w.err = namespace.SetNested(left, "spec", "finalizers")
		w.write(http.MethodPut, inNamespace+"/finalize", namespace.Object)
	}
}

// Finalize empties spec.finalizers by hand, which many pages on the web advise.
func Finalize(w *World) { tokens(func([]string) []string { return nil })(w) }

// manager creates the pod of a kube-controller-manager with a value of --controllers.
func manager(controllers string) step {
	return then(create(systemPods, `{
		"metadata":{"name":"kube-controller-manager","labels":{"component":"kube-controller-manager"}},
		"spec":{"containers":[{"name":"c","image":"i",
			"command":["kube-controller-manager","--controllers=`+controllers+`"]}]}}`), sleep(10*time.Second))
}

const systemLeases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"

// expiredLease creates the Lease that a kube-controller-manager has left behind.
var expiredLease = create(systemLeases, `{"metadata":{"name":"kube-controller-manager"},
	"spec":{"holderIdentity":"old","leaseDurationSeconds":15,"renewTime":"2000-01-01T00:00:00.000000Z"}}`)

// disagree lets two programs overwrite each other's conditions of the namespace, three times in
// 10 s, until the pod of the first is deleted. Then a controller starts.
func disagree(first, second string) step {
	return then(
		create(systemPods, `{"metadata":{"name":"`+first+`"},"spec":{`+containers+`}}`),
		fault("delay:by=6s,verb=update,resource=namespaces/status,user="+ControllerUser), // a third one is slower
		terminate, claim(first, true, true),
		beside(sleep(7*time.Second), absent(systemPods+"/"+first, then(
			claim(second, false, false), sleep(time.Second), claim(first, false, true), sleep(time.Second),
			claim(second, false, false), sleep(8*time.Second), claim(first, false, true), sleep(time.Second),
			claim(second, false, false), sleep(time.Second), claim(first, false, true), sleep(8*time.Second),
		)), start),
	)
}

// claim writes conditions of the namespace as one of two controllers, and leaves those of others.
// The first write lacks one of them, which so belongs to the other.
func claim(manager string, first, remaining bool) step {
	return func(w *World) {
		var there api.Namespace
		w.read(inNamespace, &there)
		conditions := there.Status.Conditions
		claim := func(overwrite bool, kind api.NamespaceConditionType, status api.ConditionStatus, reason string) {
			at := slices.IndexFunc(conditions, func(c api.NamespaceCondition) bool { return c.Type == kind })
			switch claimed := (api.NamespaceCondition{Type: kind, Status: status, Reason: reason}); {
			case at < 0:
				conditions = append(conditions, claimed)
			case overwrite:
				conditions[at] = claimed
			}
		}
		claim(false, api.NamespaceDeletionDiscoveryFailure, api.ConditionFalse, "ResourcesDiscovered")
		if !first {
			claim(false, api.NamespaceDeletionGVParsingFailure, api.ConditionFalse, "ParsedGroupVersions")
		}
		remains := map[bool]api.ConditionStatus{true: api.ConditionTrue, false: api.ConditionFalse}[remaining]
		claim(true, api.NamespaceContentRemaining, remains, "SomeResourcesRemain")
		status := map[string]any{"status": map[string]any{"conditions": conditions}}
		w.write(http.MethodPatch, inNamespace+"/status?fieldManager="+manager, status)
	}
}

// apiService creates the APIService of a group whose Service does not exist, in a namespace.
func apiService(group, namespace string) step {
	return create(apiServices, `{"metadata":{"name":"v1beta1.`+group+`"},"spec":{"group":"`+group+`",
		"version":"v1beta1","groupPriorityMinimum":100,"versionPriority":100,"insecureSkipTLSVerify":true,
		"service":{"namespace":"`+namespace+`","name":"metrics-server"}}}`)
}

// webhook creates a webhook configuration that selects one operation on ConfigMaps, those of the
// machine room excepted. Its Service does not exist.
func webhook(operation string) step {
	return create(webhookConfigurations, `{"metadata":{"name":"policy"},"webhooks":[{
		"name":"deny.policy.io","failurePolicy":"Fail","sideEffects":"None","admissionReviewVersions":["v1"],
		"namespaceSelector":{"matchExpressions":[{
			"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["`+MachineRoom+`"]}]},
		"clientConfig":{"service":{"namespace":"policy","name":"deny"}},
		"rules":[{"operations":["`+operation+`"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`)
}

// exclude excludes the namespace from the webhook of the fixtures.
func exclude(w *World) {
	var configuration struct {
		Webhooks []map[string]any `json:"webhooks"`
	}
	w.read(webhookConfigurations+"/policy", &configuration)
	for _, hook := range configuration.Webhooks {
		hook["namespaceSelector"] = json.RawMessage(`{"matchExpressions":[{"key":"kubernetes.io/metadata.name",
			"operator":"NotIn","values":["` + MachineRoom + `","` + Namespace + `"]}]}`)
	}
	w.write(http.MethodPatch, webhookConfigurations+"/policy", configuration)
}

// protected creates a policy that protects ResourceQuotas until they are annotated, and its
// binding.
var protected = then(
	create(policies, `{"metadata":{"name":"keep"},"spec":{"failurePolicy":"Fail",
		"matchConstraints":{"resourceRules":[{
			"apiGroups":[""],"apiVersions":["v1"],"operations":["DELETE"],"resources":["resourcequotas"]}]},
		"matchConditions":[{"name":"shop","expression":"request.namespace == '`+Namespace+`'"}],
		"validations":[{
			"expression":"has(oldObject.metadata.annotations) && `+
		`'example.com/archived' in oldObject.metadata.annotations",
			"message":"annotate it with example.com/archived first"}]}}`),
	create(policyBindings, `{"metadata":{"name":"keep-all"},
		"spec":{"policyName":"keep","validationActions":["Deny"]}}`),
	fault("policy-denies:policy=keep,binding=keep-all,configuration=keep-all,verb=delete,resource=resourcequotas,"+
		"namespace="+Namespace+`,unless-annotated=example.com/archived,`+
		`message="annotate it with example.com/archived first"`),
)

// converted creates an object whose conversion webhook has no endpoint.
func converted(finalizers ...string) step {
	return then(
		operated(velero), running(velero), create(velero.objects(), velero.body("orders", finalizers...)),
		patch(velero.definition(), `{"spec":{"conversion":{"strategy":"Webhook","webhook":{
			"conversionReviewVersions":["v1"],
			"clientConfig":{"service":{"namespace":"velero","name":"converter"}}}}}}`),
		fault("conversion-fails:group=velero.io,from=v1beta1,service=velero/converter,unless-ready=velero/converter"),
	)
}

// endpoint gives a Service a ready endpoint, and creates both and their namespace.
func endpoint(namespace, service string) step {
	return then(
		ensure(namespace),
		create(allNamespaces+"/"+namespace+"/services",
			`{"metadata":{"name":"`+service+`"},"spec":{"ports":[{"port":443}]}}`),
		create("/apis/discovery.k8s.io/v1/namespaces/"+namespace+"/endpointslices", `{"metadata":{"name":"`+service+`",
			"labels":{"kubernetes.io/service-name":"`+service+`"}},"addressType":"IPv4",
			"endpoints":[{"addresses":["192.0.2.9"]}],"ports":[{"port":443}]}`),
	)
}

// claimed is about a protected terminating claim, and a pod on a lost node.
func claimed(volumes string) step {
	const claims = inNamespace + "/persistentvolumeclaims"
	return stuck(
		create(claims, `{"metadata":{"name":"data","finalizers":["kubernetes.io/pvc-protection"]},
			"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`),
		pod("mounting", "", 10, onOne+volumes), broken("node-is-switched-off", "node-lost:node=orrery-node-1"),
		remove(claims+"/data"),
	)
}

// onLastNode creates a pod on the node with the highest number: the fixtures switch off the first
// one.
func onLastNode(name string, grace int) step {
	return func(w *World) {
		var nodes api.List[*api.PartialObjectMetadata]
		w.read("/api/v1/nodes", &nodes)
		last := ""
		for _, node := range nodes.Items {
			last = max(last, node.Name)
		}
		pod(name, "", grace, `"nodeName":"`+last+`",`)(w)
	}
}

// balancer creates a Service of type LoadBalancer with the cloud controller's finalizer.
var balancer = create(inNamespace+"/services", `{
	"metadata":{"name":"web","finalizers":["service.kubernetes.io/load-balancer-cleanup"]},
	"spec":{"type":"LoadBalancer","ports":[{"port":80}]}}`)

// podTemplate creates a PodTemplate with a finalizer that no table lists.
func podTemplate(name string) step {
	return create(podTemplates,
		`{"metadata":{"name":"`+name+`",`+kept(unlisted)+`},"template":{"spec":{`+containers+`}}}`)
}

// family is about an owner in foreground deletion, and a pod that depends on it and that a
// finalizer keeps, whose own owner is stopped. While there are pods the controller touches nothing
// else; later its own deletion, in the background, would release the owner.
func family(blocks string) step {
	const replicaSets = "/apis/apps/v1/namespaces/" + Namespace + "/replicasets"
	return stuck(
		stopped("/apis/apps/v1/namespaces/default/deployments", "kueue-controller-manager", containers),
		stopped(replicaSets, "owner", containers),
		func(w *World) {
			var owner api.PartialObjectMetadata
			w.read(replicaSets+"/owner", &owner)
			pod("leaf", kept(kueue)+`,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"owner",
				"uid":"`+owner.UID+`","blockOwnerDeletion":`+blocks+`}]`, 5, "")(w)
			w.do(http.MethodDelete, replicaSets+"/owner", `{"propagationPolicy":"Foreground"}`)
		},
	)
}
