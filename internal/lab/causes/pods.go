package causes

import (
	"time"

	"orrery/internal/why"
)

func podFixtures() []Fixture {
	pod := func(name string) why.Reference {
		return why.Reference{Resource: "pods", Namespace: Namespace, Name: name}
	}
	return []Fixture{{
		ID: "C10", Culprit: pod("slow"), Settle: 30 * time.Second,
		SetUp: func(w *World) {
			w.namespace("")
			w.fault("node-lost")
			w.pod("slow", "", `"terminationGracePeriodSeconds":300,"nodeName":"orrery-node-1"`)
			w.terminate()
		},
		NearMiss: func(w *World) { // one pod is past its time
			w.namespace("")
			w.fault("node-lost")
			w.pod("slow", "", `"terminationGracePeriodSeconds":300,"nodeName":"orrery-node-1"`)
			w.pod("late", "", `"terminationGracePeriodSeconds":5,"nodeName":"orrery-node-1"`)
			w.terminate()
		},
	}, {
		ID: "C11", Culprit: why.Reference{Resource: "nodes", Name: "orrery-node-1"},
		SetUp: func(w *World) {
			w.namespace("")
			w.pod("a", "", `"terminationGracePeriodSeconds":10`)
			w.fault("node-lost")
			w.terminate()
		},
		NearMiss: func(w *World) { // the node is ready, a finalizer keeps the pod
			w.namespace("")
			w.pod("a", `"finalizers":["example.com/x"]`, `"terminationGracePeriodSeconds":10`)
			w.terminate()
		},
	}, {
		ID: "C13", Culprit: pod("a"),
		SetUp: func(w *World) {
			w.namespace("")
			w.pod("a", `"finalizers":["batch.kubernetes.io/job-tracking"]`, `"terminationGracePeriodSeconds":5`)
			w.terminate()
		},
		NearMiss: func(w *World) {
			w.namespace("")
			w.pod("a", `"finalizers":["example.com/x"]`, `"terminationGracePeriodSeconds":5`)
			w.terminate()
		},
	}}
}
