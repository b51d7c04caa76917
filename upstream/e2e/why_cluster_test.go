package e2e

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/internal/why"
	"orrery/upstream/controlplane"
)

// clusterSituations are those that act on the whole cluster. What cannot be discovered blocks every
// namespace, so each of them also has the others' APIServices.
func clusterSituations() []situation {
	also := []string{"C01", "C02", "C03"}
	service := func(name string) why.Reference {
		return why.Reference{Resource: "apiservices.apiregistration.k8s.io", Name: name}
	}
	return []situation{
		{id: "C11", also: also, setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.runPod(namespace, "a", "24h", 1)
			w.cp.KillNodes()
			w.deleteNamespace(namespace)
			return why.Reference{Resource: "nodes", Name: "fake-node-0"}
		}},
		{id: "C22", also: also, setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			r := w.serve(&relics{version: schema.GroupVersion{Group: "kept.example.com", Version: "v1"}, service: metav1.ObjectMeta{Name: "kept"}, keeps: true})
			r.put(namespace, "orders")
			w.awaitDiscovered(r)
			w.deleteNamespace(namespace)
			return why.Reference{Resource: "relics.kept.example.com", Namespace: namespace, Name: "orders"}
		}},
		{id: "C01", also: also, setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.createNowhereAPIService("nowhere.example.com")
			w.deleteNamespace(namespace)
			return service("v1.nowhere.example.com")
		}},
		{id: "C02", also: also, setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			r := w.serve(&relics{version: schema.GroupVersion{Group: "inside.example.com", Version: "v1"}, service: metav1.ObjectMeta{Namespace: namespace, Name: "inside"}})
			w.awaitDiscovered(r)
			r.server.Close()
			w.touch(r)
			w.awaitUndiscovered(r.version)
			w.deleteNamespace(namespace)
			return service(r.apiService())
		}},
		{id: "C03", also: also, setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			r := w.serve(&relics{version: schema.GroupVersion{Group: "hidden.example.com", Version: "v1"}, service: metav1.ObjectMeta{Name: "hidden"}, hides: true})
			w.awaitUndiscovered(r.version)
			w.deleteNamespace(namespace)
			return service(r.apiService())
		}},
	}
}

// keySituation loses the key of objects. What cannot be discovered since clusterSituations is still so.
func keySituation() situation {
	return situation{id: "C23", also: []string{"C01", "C02", "C03"}, setUp: func(w *whyTrial, namespace string) why.Reference {
		w.createNamespace(namespace)
		w.post("/api/v1/namespaces/"+namespace+"/podtemplates", `{"metadata":{"name":"a"},"template":{"spec":{"containers":[{"name":"main","image":"example.com/pretended"}]}}}`)
		w.changeKey()
		w.deleteNamespace(namespace)
		return why.Reference{Resource: "podtemplates", Namespace: namespace}
	}}
}

// changeKey takes the key away with which PodTemplates were encrypted.
func (w *whyTrial) changeKey() {
	w.t.Helper()
	encryption(w.t, w.keys, "new")
	require.NoError(w.t, w.cp.RestartAPIServer(w.ctx))
}

// touch makes the API server look at once whether an aggregated server is available.
func (w *whyTrial) touch(r *relics) {
	w.t.Helper()
	w.patch("/apis/apiregistration.k8s.io/v1/apiservices/"+r.apiService(), `{"metadata":{"annotations":{"e2e.orrery/touched":"yes"}}}`)
}

// awaitDiscovered blocks until the type of an aggregated server can be discovered.
func (w *whyTrial) awaitDiscovered(r *relics) {
	w.t.Helper()
	w.eventually(r.version.String()+" is discovered", func() (bool, error) {
		lists, _ := w.client.Discovery().ServerPreferredNamespacedResources() // others may be missing
		return slices.ContainsFunc(lists, func(list *metav1.APIResourceList) bool { return list.GroupVersion == r.version.String() }), nil
	})
}

// controllerSituations are those of the namespace controller, in this order on one control plane
// whose API server takes new objects in a terminating namespace: kube-controller-manager creates the
// ConfigMap kube-root-ca.crt again.
func controllerSituations() []situation {
	return []situation{
		{id: "C28", setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.createConfigMap(namespace, "held", holdingFinalizer) // or it goes between two creations
			w.deleteNamespace(namespace)
			w.keepCreating(namespace)
			return why.Reference{Resource: "configmaps", Namespace: namespace, Name: "*"}
		}},
		{id: "C21", also: []string{"C28"}, setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.hinder.withholdRights(w.trial, schema.GroupResource{Resource: "limitranges"})
			w.deleteNamespace(namespace)
			return why.Reference{Resource: "users", Name: ControllerIdentity}
		}},
		{id: "C20", also: []string{"C21", "C28"}, setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.createConfigMap(namespace, "held", holdingFinalizer)
			w.deleteNamespace(namespace)
			runOrrery(w.t, w.cp.Kubeconfig(), "--allow-second-controller")
			return why.Reference{Resource: "namespaces", Name: namespace}
		}},
		{id: "C19", setUp: func(w *whyTrial, namespace string) why.Reference {
			w.createNamespace(namespace)
			w.cp.KillControllerManager()
			w.patch("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager", `{"spec":{"leaseDurationSeconds":15}}`)
			w.deleteNamespace(namespace)
			return why.Reference{Resource: "leases.coordination.k8s.io", Namespace: "kube-system", Name: controlplane.ControllerManager}
		}},
	}
}

// keepCreating creates ConfigMaps in a namespace until the end of the test.
func (w *whyTrial) keepCreating(namespace string) {
	ctx, cancel := context.WithCancel(w.ctx)
	ended := make(chan struct{})
	w.t.Cleanup(func() {
		cancel()
		<-ended
	})
	ticker := time.NewTicker(200 * time.Millisecond)
	go func() {
		defer close(ended)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			_ = w.tryConfigMap(namespace, fmt.Sprintf("c%d", i)) // the next one follows
		}
	}()
}
