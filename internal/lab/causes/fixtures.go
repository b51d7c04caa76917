package causes

import (
	"slices"
	"time"

	"orrery/internal/why"
)

// Fixture is the situation of one cause.
type Fixture struct {
	// ID is that of the cause in package why.
	ID string
	// SetUp makes the namespace hang for that cause, and NearMiss for something that looks alike and is not it.
	SetUp    func(*World)
	NearMiss func(*World)
	// Culprit is the object that a report must name.
	Culprit why.Reference
	// NoController: no namespace controller runs.
	NoController bool
	// Settle is how long after the set-up the situation is looked at; default [Settled]. NearMissSettle is that of the near
	// miss, default Settle.
	// Also are causes that the situation proves beside it.
	Also []string

	Settle         time.Duration
	NearMissSettle time.Duration
}

// Settled is how long a controller needs at most until its conditions describe the situation.
const Settled = 90 * time.Second

// Fixtures returns the fixtures, in the order of the report.
func Fixtures() []Fixture {
	return slices.Concat(
		controllerFixtures(), discoveryFixtures(), storageFixtures(), admissionFixtures(), podFixtures(),
		finalizerFixtures(), contentFixtures(), namespaceFixtures(), nothingFixtures(),
	)
}

var theNamespace = why.Reference{Resource: "namespaces", Name: Namespace}

func controllerFixtures() []Fixture {
	return []Fixture{{
		ID: "C19", NoController: true, Culprit: why.Reference{Resource: "pods", Namespace: "kube-system", Name: "kube-controller-manager"},
		SetUp: func(w *World) {
			w.namespace("")
			w.terminate()
		},
		NearMiss: func(w *World) { // its conditions are fresh, and there is no Lease
			w.namespace("")
			w.terminate()
			w.sleep(5 * time.Second)
			w.patch("/api/v1/namespaces/"+Namespace+"/status", `{"status":{"conditions":[{"type":"NamespaceContentRemaining","status":"True",
				"reason":"SomeResourcesRemain","message":"Some resources are remaining: pods. has 1 resource instances","lastTransitionTime":"2000-01-01T00:00:00Z"}]}}`)
		},
	}, {
		ID: "C21", Culprit: why.Reference{Resource: "users", Name: "controller"},
		SetUp: func(w *World) {
			w.namespace("")
			w.configMap("a", "")
			w.fault("forbid:verb=delete|deletecollection,resource=configmaps,user=controller")
			w.terminate()
		},
		NearMiss: func(w *World) { // the right was restored, and the condition is old
			w.namespace("")
			w.configMap("a", "")
			w.fault("forbid:verb=delete|deletecollection,resource=configmaps,user=controller,for=20s")
			w.fault("delay:by=1h,verb=deletecollection,user=controller,resource=secrets")
			w.terminate()
		}, NearMissSettle: 25 * time.Second,
	}}
}

func storageFixtures() []Fixture {
	return []Fixture{{
		ID: "C23", Culprit: why.Reference{Resource: "secrets", Namespace: Namespace},
		SetUp: func(w *World) {
			w.namespace("")
			w.fault(`internal-error:resource=secrets,verb=list|deletecollection,message="unable to transform key \"/registry/secrets/shop/a\": no matching prefix found"`)
			w.terminate()
		},
		NearMiss: func(w *World) { // another error
			w.namespace("")
			w.fault(`internal-error:resource=secrets,verb=list|deletecollection`)
			w.terminate()
		},
	}}
}

func namespaceFixtures() []Fixture {
	return []Fixture{{
		ID: "C16", Culprit: theNamespace,
		SetUp: func(w *World) {
			w.namespace(`"finalizers":["example.com/audit"]`)
			w.terminate()
		},
		NearMiss: func(w *World) { // the garbage collector's own
			w.namespace(`"finalizers":["foregroundDeletion"]`)
			w.terminate()
		},
	}, {
		ID: "C18", Culprit: theNamespace,
		SetUp: func(w *World) {
			w.create("/api/v1/namespaces", `{"metadata":{"name":"`+Namespace+`"},"spec":{"finalizers":["kubernetes","example.com/x"]}}`)
			w.terminate()
		},
		NearMiss: func(w *World) {
			w.namespace("")
			w.configMap("a", `"finalizers":["example.com/x"]`)
			w.terminate()
		},
	}}
}

func nothingFixtures() []Fixture {
	return []Fixture{{
		ID: "C29", Culprit: theNamespace,
		SetUp: func(w *World) { w.namespace("") },
		NearMiss: func(w *World) { // it has been in deletion for 3 s
			w.namespace("")
			w.terminate()
		}, NearMissSettle: 3 * time.Second,
	}, {
		ID: "C30", Culprit: theNamespace,
		SetUp: func(w *World) {
			w.namespace("")
			w.configMap("a", `"finalizers":["example.com/x"]`)
			w.terminate()
			w.fault("forbid:verb=list,resource=secrets,user=" + reader)
		},
		NearMiss: func(w *World) { // nodes are not needed while no pod is late
			w.namespace("")
			w.configMap("a", `"finalizers":["example.com/x"]`)
			w.terminate()
			w.fault("forbid:verb=list,resource=nodes,user=" + reader)
		},
	}}
}

// reader is the user of the administrator of the API server in memory, as whom `orrery why` looks.
const reader = "kubernetes-admin"
