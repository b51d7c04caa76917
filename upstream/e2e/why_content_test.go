package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/internal/why"
	"orrery/upstream/controlplane"
)

// managedControllers are those of kube-controller-manager on the control plane of the content: no
// garbage collector, no job-controller and no protection of claims.
var managedControllers = []string{
	"serviceaccount-controller", "serviceaccount-token-controller", "root-ca-certificate-publisher-controller", "clusterrole-aggregation-controller",
	"deployment-controller", "replicaset-controller", "node-lifecycle-controller",
}

// The pod of kube-controller-manager, as kubeadm names it.
// The holder of its Lease has the name of this machine, and so has the pod.
var managersPod = controlplane.ControllerManager + "-" + hostname()

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		panic(err)
	}
	return strings.ToLower(name)
}

// convertedThings is the CustomResourceDefinition whose conversion the situation of C09 breaks.
const convertedThings = "things.converted.example.com"

// playStaticPod creates the pod with which a kubelet shows the static pod of
// kube-controller-manager, with its true flag --controllers.
func (w *whyTrial) playStaticPod() {
	w.t.Helper()
	w.awaitDefaults("kube-system")
	controllers := strings.Join(append(managedControllers, "namespace-controller"), ",")
	w.post("/api/v1/namespaces/kube-system/pods", fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"component":"kube-controller-manager","tier":"control-plane"}},
		"spec":{"nodeName":"fake-node-0","containers":[{"name":"main","image":"example.com/pretended","command":["kube-controller-manager","--controllers=%s"]}]}}`,
		managersPod, controllers))
}

var managersPodRef = why.Reference{Resource: "pods", Namespace: "kube-system", Name: managersPod}

// contentSituations are those that keep to their own namespaces.
func contentSituations() []situation {
	custom := func(group, plural string) func(namespace string) why.Reference {
		return func(namespace string) why.Reference {
			return why.Reference{Resource: plural + "." + group, Namespace: namespace, Name: "orders"}
		}
	}
	return []situation{
		{id: "C05", absence: true, setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.definition("keda.sh", "scaledobjects", "ScaledObject", "v1alpha1")
			w.deployment(namespace, "keda-operator", "keda")
			w.custom("/namespaces/"+namespace+"/scaledobjects", "keda.sh/v1alpha1", "ScaledObject", "orders", "finalizer.keda.sh")
			w.mayUpdate("keda", "keda.sh", "scaledobjects", namespace, "keda", "")
			w.deleteNamespace(namespace)
			return custom("keda.sh", "scaledobjects")(namespace)
		}},
		{id: "C06", setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.createNamespace("cert-manager")
			w.definition("acme.cert-manager.io", "challenges", "Challenge", "v1")
			w.deployment("cert-manager", "cert-manager", "cert-manager")
			w.may("get,list,watch", "cert-manager-reads", "acme.cert-manager.io", "challenges", "cert-manager", "cert-manager", "")
			w.mayUpdate("cert-manager", "acme.cert-manager.io", "challenges", "cert-manager", "cert-manager", namespace)
			w.custom("/namespaces/"+namespace+"/challenges", "acme.cert-manager.io/v1", "Challenge", "orders", "acme.cert-manager.io/finalizer")
			w.deleteNamespace(namespace)
			return custom("acme.cert-manager.io", "challenges")(namespace)
		}},
		{id: "C07", setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.webhook(namespace, "policy", "deny")
			w.deleteNamespace(namespace)
			return why.Reference{Resource: "validatingwebhookconfigurations", Name: namespace}
		}},
		{id: "C08", setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.createConfigMap(namespace, "kept")
			w.hinder.forbidDeletion(w.trial, configMaps, namespace, "kept")
			w.deleteNamespace(namespace)
			return why.Reference{Resource: "validatingadmissionpolicies", Name: namespace}
		}},
		{id: "C09", setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.definition("converted.example.com", "things", "Thing", "v1beta1", "v1")
			w.custom("/namespaces/"+namespace+"/things", "converted.example.com/v1beta1", "Thing", "orders")
			const definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + convertedThings
			w.patch(definition, `{"spec":{"conversion":{"strategy":"Webhook",
				"webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"converter","name":"converter"}}}}}}`)
			w.t.Cleanup(func() { // kube-controller-manager retries such a list for seconds in each pass over any namespace
				of := w.inTest(w.t)
				of.ctx = context.WithoutCancel(w.ctx)
				of.patch(definition, `{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)
			})
			w.eventually("the webhook is asked", func() (bool, error) {
				things := schema.GroupVersionResource{Group: "converted.example.com", Version: "v1", Resource: "things"}
				_, err := w.dynamic.Resource(things).Namespace(namespace).List(w.ctx, metav1.ListOptions{})
				return err != nil && strings.Contains(err.Error(), "conversion webhook"), nil
			})
			w.deleteNamespace(namespace)
			return why.Reference{Resource: "customresourcedefinitions", Name: convertedThings}
		}},
		{id: "C13", setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.holdPod(namespace, "a", 1, "batch.kubernetes.io/job-tracking")
			w.own(namespace, "a", "8f14e45f-ceea-467f-9575-3e2b1d8b5a0f")
			w.deleteNamespace(namespace)
			return why.Reference{Resource: "pods", Namespace: namespace, Name: "a"}
		}},
		{id: "C13", miss: true, setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.post("/apis/batch/v1/namespaces/"+namespace+"/jobs", `{"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never",
				"containers":[{"name":"main","image":"example.com/pretended"}]}}}}`)
			job, err := w.client.BatchV1().Jobs(namespace).Get(w.ctx, "j", metav1.GetOptions{})
			require.NoError(w.t, err)
			w.holdPod(namespace, "a", 1, "batch.kubernetes.io/job-tracking")
			w.own(namespace, "a", string(job.UID))
			w.deleteNamespace(namespace)
			return why.Reference{}
		}},
		{id: "C14", also: []string{"C11"}, setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.claim(namespace)
			w.post("/api/v1/namespaces/"+namespace+"/pods", `{"metadata":{"name":"a"},"spec":{"nodeName":"gone","terminationGracePeriodSeconds":1,
				"containers":[{"name":"main","image":"example.com/pretended"}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}]}}`)
			require.NoError(w.t, w.client.CoreV1().PersistentVolumeClaims(namespace).Delete(w.ctx, "data", metav1.DeleteOptions{}))
			w.deleteNamespace(namespace)
			return why.Reference{Resource: "pods", Namespace: namespace, Name: "a"}
		}},
		{id: "C17", setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			foreground := metav1.DeletePropagationForeground
			require.NoError(w.t, w.client.CoreV1().Namespaces().Delete(w.ctx, namespace, metav1.DeleteOptions{PropagationPolicy: &foreground}))
			return managersPodRef
		}},
		{id: "C24", setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.stoppedOwner("kueue-controller-manager")
			w.holdPod(namespace, "a", 1, "kueue.x-k8s.io/managed")
			w.deleteNamespace(namespace)
			return why.Reference{Resource: "pods", Namespace: namespace, Name: "a"}
		}},
		{id: "C25", also: []string{"C04"}, setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.stoppedOwner("kuberay-operator")
			w.definition("ray.io", "rayclusters", "RayCluster", "v1")
			w.custom("/namespaces/"+namespace+"/rayclusters", "ray.io/v1", "RayCluster", "orders", "ray.io/gcs-ft-redis-cleanup-finalizer")
			require.NoError(w.t, w.dynamic.Resource(crdResource).Delete(w.ctx, "rayclusters.ray.io", metav1.DeleteOptions{}))
			w.deleteNamespace(namespace)
			return why.Reference{Resource: "customresourcedefinitions", Name: "rayclusters.ray.io"}
		}},
		{id: "C30", setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.createConfigMap(namespace, "held", holdingFinalizer)
			w.deleteNamespace(namespace)
			return why.Reference{Resource: "namespaces", Name: namespace}
		}},
	}
}

// stoppedOwner creates a Deployment without pods, by which the owner of a finalizer is known to be
// gone.
func (w *whyTrial) stoppedOwner(name string) {
	w.t.Helper()
	w.post("/apis/apps/v1/namespaces/default/deployments", fmt.Sprintf(`{"metadata":{"name":%[1]q},"spec":{"replicas":0,
		"selector":{"matchLabels":{"app":%[1]q}},"template":{"metadata":{"labels":{"app":%[1]q}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`, name))
}

// mayUpdate lets a service account update a type everywhere, or in one namespace by a Role there.
func (w *whyTrial) mayUpdate(name, group, resource, accounts, account, inNamespace string) {
	w.t.Helper()
	w.may("update,patch", name, group, resource, accounts, account, inNamespace)
}

// may gives a service account verbs, which commas separate.
func (w *whyTrial) may(verbs, name, group, resource, accounts, account, inNamespace string) {
	w.t.Helper()
	const rbac = "/apis/rbac.authorization.k8s.io/v1"
	place, role, binding, kind := rbac, "/clusterroles", "/clusterrolebindings", "ClusterRole"
	if inNamespace != "" {
		place, role, binding, kind = rbac+"/namespaces/"+inNamespace, "/roles", "/rolebindings", "Role"
	}
	w.post(place+role, fmt.Sprintf(`{"metadata":{"name":%q},"rules":[{"apiGroups":[%q],"resources":[%q],"verbs":["%s"]}]}`, name, group, resource, strings.ReplaceAll(verbs, ",", `","`)))
	w.post(place+binding, fmt.Sprintf(`{"metadata":{"name":%q},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":%q,"name":%q},
		"subjects":[{"kind":"ServiceAccount","namespace":%q,"name":%q}]}`, name, kind, name, accounts, account))
}

// webhook configures a webhook behind a Service that does not exist, which is asked about deletions
// of ConfigMaps in one namespace, and waits until the server asks it.
func (w *whyTrial) webhook(namespace, serviceNamespace, service string) {
	w.t.Helper()
	w.post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", fmt.Sprintf(`{"metadata":{"name":%q},"webhooks":[{
		"name":"deny.policy.io","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":%q,"name":%q}},
		"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":%q}},
		"rules":[{"operations":["DELETE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`, namespace, serviceNamespace, service, namespace))
	w.eventually("the webhook would be asked", func() (bool, error) {
		err := w.client.CoreV1().ConfigMaps(namespace).Delete(w.ctx, "kube-root-ca.crt", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInternalError(err), nil
	})
}

// own makes a Job the owner of a pod.
func (w *whyTrial) own(namespace, pod, uid string) {
	w.t.Helper()
	w.patch("/api/v1/namespaces/"+namespace+"/pods/"+pod, fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":%q}]}}`, uid))
}

// claim creates a claim, which the server protects.
func (w *whyTrial) claim(namespace string) {
	w.t.Helper()
	w.post("/api/v1/namespaces/"+namespace+"/persistentvolumeclaims",
		`{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`)
}
