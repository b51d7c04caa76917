package causes

import (
	"encoding/json"
	"slices"
	"time"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// Fixture is the situation of one cause.
type Fixture struct {
	// ID is the cause's id in package why.
	ID string
	// SetUp makes the namespace hang for that cause, and NearMiss for something that looks alike
	// and is not it.
	SetUp    func(*World)
	NearMiss func(*World)
	// Culprit is the object that a report must name.
	Culprit why.Reference
	// NoController: no namespace controller runs.
	NoController bool
	// Also are causes that the situation proves beside it.
	Also []string
	// Solve repairs the situation so that the namespace goes. [Fixture.Intact] says what a solution
	// left behind or damaged.
	Solve func(*World)
	// Keep are the paths of objects that a solution must not delete.
	Keep []string

	// Settle is the time from the set-up to the examination; default [Settled].
	// NearMissSettle is the same for the near miss, default Settle.
	Settle         time.Duration
	NearMissSettle time.Duration
}

// Settled is how long a controller needs at most until its conditions describe the situation.
const Settled = 90 * time.Second

// Fixtures returns the fixtures, in the order of the report.
func Fixtures() []Fixture {
	fixtures := slices.Concat(
		controllerFixtures(), discoveryFixtures(), storageFixtures(), admissionFixtures(), podFixtures(),
		finalizerFixtures(), contentFixtures(), namespaceFixtures(), nothingFixtures(),
	)
	for i := range fixtures {
		s := solutions[fixtures[i].ID]
		fixtures[i].Solve, fixtures[i].Keep = s.solve, s.keep
	}
	return fixtures
}

var theNamespace = why.Reference{Resource: "namespaces", Name: Namespace}

func controllerFixtures() []Fixture {
	return []Fixture{{
		ID: "C19", NoController: true, Culprit: why.Reference{Resource: "leases.coordination.k8s.io", Namespace: "kube-system", Name: "kube-controller-manager"},
		SetUp: func(w *World) {
			w.expiredLease()
			w.namespace()
			w.configMap("left", "")
			w.outside("controller-is-off")
			w.terminate()
			start := w.startController
			w.background(func(other *World) {
				if other.until("controller-is-off") {
					start()
				}
			})
		},
		NearMiss: func(w *World) { // its conditions are fresh, and there is no Lease
			w.namespace()
			w.terminate()
			w.sleep(5 * time.Second)
			w.patch("/api/v1/namespaces/"+Namespace+"/status", `{"status":{"conditions":[{"type":"NamespaceContentRemaining","status":"True",
				"reason":"SomeResourcesRemain","message":"Some resources are remaining: pods. has 1 resource instances","lastTransitionTime":"2000-01-01T00:00:00Z"}]}}`)
		},
	}, {
		ID: "C21", Culprit: why.Reference{Resource: "users", Name: ControllerUser},
		SetUp: func(w *World) {
			w.namespace()
			w.account("a")
			w.broken("controller-has-lost-its-role", "forbid:verb=delete|deletecollection,resource=serviceaccounts,user="+ControllerUser)
			w.terminate()
		},
		NearMiss: func(w *World) { // the right was restored, and the condition is old
			w.namespace()
			w.account("a")
			w.fault("forbid:verb=delete|deletecollection,resource=serviceaccounts,user=" + ControllerUser + ",for=20s")
			w.terminate()
			w.sleep(8 * time.Second) // the first pass was refused; the next one does not end
			w.fault("delay:by=1h,verb=deletecollection,user=" + ControllerUser + ",resource=configmaps")
		}, NearMissSettle: 25 * time.Second,
	}, {
		ID: "C20", NoController: true, Culprit: theNamespace, Settle: Settled + 5*time.Second,
		SetUp: func(w *World) {
			w.namespace()
			w.configMap("disputed", "")
			w.disagree("sweeper", "orrery")
		},
		NearMiss: func(w *World) { // one entry is old
			w.namespace()
			w.configMap("a", "")
			w.terminate()
			w.claim("sweeper", true, false)
			w.sleep(time.Minute)
			w.disagree("orrery", "orrery")
		},
	}}
}

func storageFixtures() []Fixture {
	return []Fixture{{
		ID: "C23", Culprit: why.Reference{Resource: "secrets", Namespace: Namespace},
		SetUp: func(w *World) {
			w.namespace()
			w.create("/api/v1/namespaces/"+Namespace+"/secrets", `{"metadata":{"name":"a"}}`)
			w.broken("encryption-key-is-missing", "unreadable:resource=secrets,namespace="+Namespace)
			w.terminate()
		},
		NearMiss: func(w *World) { // another error
			w.namespace()
			w.fault(`internal-error:resource=secrets,verb=list|deletecollection`)
			w.terminate()
		},
	}, {
		ID: "C22", Culprit: why.Reference{Resource: argo.typeName(), Namespace: Namespace, Name: "orders"},
		SetUp: func(w *World) {
			w.operated(argo)
			w.create(argo.objects(), argo.body("orders"))
			w.broken("extension-server-lacks-delete", "not-allowed:verb=delete|deletecollection,resource=workflows")
			w.terminate()
		},
		NearMiss: func(w *World) { // what remains is younger than the deletion: C28
			w.namespace()
			w.fault("not-allowed:verb=delete|deletecollection,resource=configmaps")
			w.terminate()
			w.sleep(10 * time.Second)
			w.fault("keeps-creating:namespace=" + Namespace + ",every=5s")
		},
	}}
}

func namespaceFixtures() []Fixture {
	return []Fixture{{
		ID: "C16", Culprit: theNamespace,
		SetUp: func(w *World) {
			w.outside("audit-record-of-shop")
			w.namespace("example.com/audit")
			w.terminate()
		},
		NearMiss: func(w *World) { // the garbage collector's own
			w.namespace("foregroundDeletion")
			w.terminate()
		},
	}, {
		ID: "C17", Culprit: why.Reference{Resource: "pods", Namespace: "kube-system", Name: "kube-controller-manager"},
		SetUp: func(w *World) {
			w.namespace("foregroundDeletion")
			w.manager("*,-garbage-collector-controller,-job-controller") // with the job controller on there would be no orphan of C13
			w.fault("collector-stopped:while=pods/kube-system/kube-controller-manager")
			w.terminate()
		},
		NearMiss: func(w *World) { // the collector has had no time
			w.namespace("foregroundDeletion")
			w.manager("*")
			w.fault("collector-stopped")
			w.terminate()
		}, NearMissSettle: 30 * time.Second,
	}, {
		ID: "C18", Culprit: theNamespace,
		SetUp: func(w *World) {
			w.outside("quota-of-shop")
			w.namespace()
			w.setTokens(func(tokens []string) []string { return append(tokens, "example.com/x") })
			w.terminate()
		},
		NearMiss: func(w *World) {
			w.namespace()
			w.configMap("a", `"finalizers":["example.com/x"]`)
			w.terminate()
		},
	}}
}

func nothingFixtures() []Fixture {
	return []Fixture{{
		ID: "C29", Culprit: theNamespace,
		SetUp: func(w *World) { w.namespace() },
		NearMiss: func(w *World) { // it has been terminating for 3 s
			w.namespace()
			w.terminate()
		}, NearMissSettle: 3 * time.Second,
	}, {
		ID: "C30", Culprit: theNamespace,
		SetUp: func(w *World) {
			w.namespace()
			w.configMap("kept", `"finalizers":["example.com/x"]`)
			w.terminate()
			w.broken("reader-has-lost-a-right", "forbid:verb=list,resource=ingresses,user="+reader)
		},
		NearMiss: func(w *World) { // nodes are not needed while no pod is late
			w.namespace()
			w.configMap("a", `"finalizers":["example.com/x"]`)
			w.terminate()
			w.fault("forbid:verb=list,resource=nodes,user=" + reader)
		},
	}}
}

const systemLeases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"

// expiredLease creates the Lease that a kube-controller-manager has left behind.
func (w *World) expiredLease() {
	w.create(systemLeases, `{"metadata":{"name":"kube-controller-manager"},
		"spec":{"holderIdentity":"old","leaseDurationSeconds":15,"renewTime":"2000-01-01T00:00:00.000000Z"}}`)
}

// manager creates the pod of a kube-controller-manager with a value of --controllers.
func (w *World) manager(controllers string) {
	w.create("/api/v1/namespaces/kube-system/pods", `{"metadata":{"name":"kube-controller-manager","labels":{"component":"kube-controller-manager"}},
		"spec":{"containers":[{"name":"c","image":"i","command":["kube-controller-manager","--controllers=`+controllers+`"]}]}}`)
	w.sleep(10 * time.Second)
}

// disagree lets two programs overwrite each other's conditions of the namespace, three times in
// 10 s, until the pod of the first is deleted. Then a controller starts.
func (w *World) disagree(first, second string) {
	const pods = "/api/v1/namespaces/kube-system/pods"
	w.create(pods, `{"metadata":{"name":"`+first+`"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	w.fault("delay:by=6s,verb=update,resource=namespaces/status,user=" + ControllerUser) // a third one is slower
	w.terminate()
	w.claim(first, true, true)
	start := w.startController
	w.background(func(other *World) {
		for remaining := false; other.err == nil; remaining = !remaining {
			other.sleep(7 * time.Second)
			if _, found := other.find(pods + "/" + first); !found && other.err == nil {
				start()
				return
			}
			who := map[bool]string{true: first, false: second}
			for _, remains := range []bool{remaining, !remaining, remaining} {
				other.claim(who[remains], false, remains)
				other.sleep(time.Second)
			}
		}
	})
}

// claim writes conditions of the namespace as one of two controllers, and leaves those of others.
// The first write lacks one of them, which so belongs to the other.
func (w *World) claim(manager string, first, remaining bool) {
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
	body, err := json.Marshal(conditions)
	if w.err == nil {
		w.err = err
	}
	w.patch(inNamespace+"/status?fieldManager="+manager, `{"status":{"conditions":`+string(body)+`}}`)
}

// account creates a service account in the namespace.
func (w *World) account(name string) {
	w.create(inNamespace+"/serviceaccounts", `{"metadata":{"name":"`+name+`"}}`)
}

// ControllerUser is the user of the namespace controller: that of kube-controller-manager.
const ControllerUser = "system:kube-controller-manager"

// reader is the administrator of the API server in memory. `orrery why` reads as this user.
const reader = "kubernetes-admin"
