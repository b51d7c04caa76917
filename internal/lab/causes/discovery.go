package causes

import (
	"time"

	"orrery/internal/why"
)

const stale = "stale-discovery:group=ray.io,version=v1alpha1"

// apiService creates the APIService of a group whose Service does not exist, in a namespace.
func (w *World) apiService(group, namespace string) {
	w.create(apiServices, `{"metadata":{"name":"v1beta1.`+group+`"},"spec":{"group":"`+group+`",
		"version":"v1beta1","groupPriorityMinimum":100,"versionPriority":100,"insecureSkipTLSVerify":true,
		"service":{"namespace":"`+namespace+`","name":"metrics-server"}}}`)
}

func discoveryFixtures() []Fixture {
	culprit := func(name string) why.Reference {
		return why.Reference{Resource: "apiservices.apiregistration.k8s.io", Name: name}
	}
	lost := func(group, namespace string) func(*World) {
		return func(w *World) {
			w.namespace()
			w.apiService(group, namespace)
			w.terminate()
		}
	}
	return []Fixture{{
		ID: "C01", Culprit: culprit("v1beta1.metrics.k8s.io"), SetUp: lost("metrics.k8s.io", "kube-system"),
		NearMiss: func(w *World) { // it was deleted since, and the text is old
			lost("metrics.k8s.io", "kube-system")(w)
			w.sleep(time.Minute)
			w.delete(apiServices + "/v1beta1.metrics.k8s.io")
		}, NearMissSettle: time.Second,
	}, {
		ID: "C02", Culprit: culprit("v1beta1.custom.metrics.k8s.io"), SetUp: lost("custom.metrics.k8s.io", Namespace),
		NearMiss: lost("custom.metrics.k8s.io", "kube-system"), // a Service of that name elsewhere
	}, {
		ID: "C03", Culprit: culprit("v1alpha1.ray.io"),
		SetUp: func(w *World) {
			w.operated(kuberay)
			w.broken("api-server-has-old-discovery", stale)
			w.terminate()
		},
		NearMiss: func(w *World) { // stale in the first sample only
			w.operated(kuberay)
			w.broken("api-server-has-old-discovery", stale)
			w.terminate()
			w.sleep(Settled)
			go func() {
				other := NewWorld(w.ctx, w.client)
				other.sleep(6 * time.Second)
				other.repair("api-server-has-old-discovery")
			}()
		}, NearMissSettle: time.Second,
	}}
}
