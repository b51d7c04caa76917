package causes

import (
	"time"

	"orrery/internal/why"
)

const stale = "stale-discovery:group=keda.sh,version=v1alpha1"

// apiService creates an APIService whose Service does not exist, in a namespace.
func (w *World) apiService(namespace string) {
	w.create("/apis/apiregistration.k8s.io/v1/apiservices", `{"metadata":{"name":"v1beta1.metrics.k8s.io"},"spec":{"group":"metrics.k8s.io",
		"version":"v1beta1","groupPriorityMinimum":100,"versionPriority":100,"insecureSkipTLSVerify":true,
		"service":{"namespace":"`+namespace+`","name":"metrics-server"}}}`)
}

func discoveryFixtures() []Fixture {
	culprit := why.Reference{Resource: "apiservices.apiregistration.k8s.io", Name: "v1beta1.metrics.k8s.io"}
	lost := func(namespace string) func(*World) {
		return func(w *World) {
			w.namespace("")
			w.apiService(namespace)
			w.terminate()
		}
	}
	return []Fixture{{
		ID: "C01", Culprit: culprit, SetUp: lost("kube-system"),
		NearMiss: func(w *World) { // it was deleted since, and the text is old
			lost("kube-system")(w)
			w.sleep(time.Minute)
			w.delete("/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io")
		}, NearMissSettle: time.Second,
	}, {
		ID: "C02", Culprit: culprit, SetUp: lost(Namespace),
		NearMiss: lost("kube-system"), // a Service of that name elsewhere
	}, {
		ID: "C03", Culprit: why.Reference{Resource: "apiservices.apiregistration.k8s.io", Name: "v1alpha1.keda.sh"},
		SetUp: func(w *World) {
			w.operated()
			w.broken("api-server-has-old-discovery", stale)
			w.terminate()
		},
		NearMiss: func(w *World) { // stale in the first sample only
			w.operated()
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
