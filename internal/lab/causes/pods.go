package causes

import (
	"time"

	"orrery/internal/why"
	"orrery/restclient/api"
)

func podFixtures() []Fixture {
	pod := func(name string) why.Reference {
		return why.Reference{Resource: "pods", Namespace: Namespace, Name: name}
	}
	return []Fixture{{
		ID: "C10", Culprit: pod("slow"), Settle: 30 * time.Second,
		SetUp: func(w *World) {
			w.namespace()
			w.fault("pod-stays:name=slow,namespace=" + Namespace + ",for=2m")
			w.pod("slow", "", `"terminationGracePeriodSeconds":300,"nodeName":"`+w.lastNode()+`"`)
			w.terminate()
		},
		NearMiss: func(w *World) { // one pod is past its time
			w.namespace()
			w.fault("node-lost")
			w.pod("slow", "", `"terminationGracePeriodSeconds":300,"nodeName":"orrery-node-1"`)
			w.pod("late", "", `"terminationGracePeriodSeconds":5,"nodeName":"orrery-node-1"`)
			w.terminate()
		},
	}, {
		ID: "C11", Culprit: why.Reference{Resource: "nodes", Name: "orrery-node-1"},
		SetUp: func(w *World) {
			w.namespace()
			w.pod("lost", "", `"terminationGracePeriodSeconds":10,"nodeName":"orrery-node-1"`)
			w.broken("node-has-no-power", "node-lost:node=orrery-node-1")
			w.terminate()
		},
		NearMiss: func(w *World) { // the node is ready, a finalizer keeps the pod
			w.namespace()
			w.pod("a", `"finalizers":["example.com/x"]`, `"terminationGracePeriodSeconds":10`)
			w.terminate()
		},
	}, {
		ID: "C12", Culprit: pod("stuck"),
		SetUp: func(w *World) {
			w.namespace()
			w.pod("stuck", "", `"terminationGracePeriodSeconds":10,"nodeName":"`+w.lastNode()+`"`)
			w.broken("volume-is-stuck", "pod-stays:name=stuck,namespace="+Namespace)
			w.terminate()
		},
		NearMiss: func(w *World) { // its containers may still run
			w.namespace()
			w.pod("a", "", `"terminationGracePeriodSeconds":300,"nodeName":"orrery-node-1"`)
			w.fault("node-lost:node=orrery-node-1,for=60s")
			w.terminate()
		}, NearMissSettle: 30 * time.Second,
	}, {
		ID: "C13", Culprit: pod("counted"),
		SetUp: func(w *World) {
			w.namespace()
			w.pod("counted", `"finalizers":["batch.kubernetes.io/job-tracking"]`, `"terminationGracePeriodSeconds":5`)
			w.terminate()
		},
		NearMiss: func(w *World) {
			w.namespace()
			w.pod("a", `"finalizers":["example.com/x"]`, `"terminationGracePeriodSeconds":5`)
			w.terminate()
		},
	}, {
		ID: "C14", Culprit: pod("mounting"), Also: []string{"C11"},
		SetUp: func(w *World) {
			w.claimed(`"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}]`)
		},
		NearMiss: func(w *World) { w.claimed("") }, // no pod mounts it, and nothing is seen of its controller
	}, {
		ID: "C24", Culprit: pod("admitted"),
		SetUp: func(w *World) {
			w.namespace()
			w.stopped("kube-system", "kueue-controller-manager")
			w.pod("admitted", `"finalizers":["kueue.x-k8s.io/managed"]`, `"terminationGracePeriodSeconds":5`)
			w.configMap("c", "")
			w.terminate()
		},
		NearMiss: func(w *World) { // the finalizer's owner acts between the samples
			w.namespace()
			w.pod("a", `"finalizers":["kueue.x-k8s.io/managed"]`, `"terminationGracePeriodSeconds":5`)
			w.terminate()
			w.sleep(Settled)
			go func() {
				other := NewWorld(w.ctx, w.client)
				for i := range 5 {
					other.sleep(3 * time.Second)
					other.patch("/api/v1/namespaces/"+Namespace+"/pods/a", `{"metadata":{"annotations":{"kueue.x-k8s.io/step":"`+name(i)+`"}}}`)
				}
			}()
		}, NearMissSettle: time.Second,
	}}
}

// claimed creates a protected terminating claim, and a pod on a lost node.
func (w *World) claimed(volumes string) {
	const claims = "/api/v1/namespaces/" + Namespace + "/persistentvolumeclaims"
	w.namespace()
	w.create(claims, `{"metadata":{"name":"data","finalizers":["kubernetes.io/pvc-protection"]},
		"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`)
	spec := `"terminationGracePeriodSeconds":10,"nodeName":"orrery-node-1"`
	if volumes != "" {
		spec += "," + volumes
	}
	w.pod("mounting", "", spec)
	w.broken("node-is-switched-off", "node-lost:node=orrery-node-1")
	w.delete(claims + "/data")
	w.terminate()
}

// lastNode returns the name of the node with the highest number: the fixtures switch off the first
// one.
func (w *World) lastNode() (name string) {
	var nodes api.List[*api.PartialObjectMetadata]
	w.read("/api/v1/nodes", &nodes)
	for _, node := range nodes.Items {
		name = max(name, node.Name)
	}
	return name
}
