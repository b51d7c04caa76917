package integration_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

// mistake is one for which namespaces are known to hang. A request is METHOD PATH BODY; pod is a
// pod with this grace period.
type mistake struct {
	fault     string   // of the server
	requests  []string // before the deletion of the namespace
	pod       int
	then      string // a request after it
	condition api.NamespaceConditionType
	says      string   // words of its message
	left      []string // objects; nil: not compared
	undo      string   // the request that undoes the mistake; "": the fault ends
}

const (
	gizmos   = "/apis/example.com/v1/namespaces/shop/gizmos"
	crd      = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	services = "/apis/apiregistration.k8s.io/v1/apiservices"
)

// held are the requests for a custom resource with a finalizer.
var held = []string{
	"POST " + crd + " " + clustertest.Gizmos,
	"POST " + gizmos + ` {"apiVersion":"example.com/v1","kind":"Gizmo",
		"metadata":{"name":"g","finalizers":["example.com/hold"]}}`,
}

var mistakes = map[string]mistake{
	"a finalizer that is never removed": {
		requests: held, condition: api.NamespaceFinalizersRemaining,
		says: "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
		left: []string{"/registry/example.com/gizmos/g"},
		undo: "PATCH " + gizmos + `/g {"metadata":{"finalizers":null}}`,
	},
	"content that remains is named": {
		requests: held, condition: api.NamespaceContentRemaining,
		says: "Some resources are remaining: gizmos.example.com has 1 resource instances",
		undo: "PATCH " + gizmos + `/g {"metadata":{"finalizers":null}}`,
	},
	"a definition that is deleted, too": {
		requests: held, then: "DELETE " + crd + "/gizmos.example.com",
		condition: api.NamespaceFinalizersRemaining,
		undo:      "PATCH " + gizmos + `/g {"metadata":{"finalizers":null}}`,
	},
	"a group whose server is gone": {
		requests: []string{"POST " + services + ` {"metadata":{"name":"v1beta1.metrics.example.com"},
			"spec":{"group":"metrics.example.com","version":"v1beta1","groupPriorityMinimum":100,
			"versionPriority":100,"service":{"name":"metrics","namespace":"default"}}}`},
		condition: api.NamespaceDeletionDiscoveryFailure,
		says:      "metrics.example.com/v1beta1: stale GroupVersion discovery",
		left:      []string{}, // everything discoverable is gone
		undo:      "DELETE " + services + "/v1beta1.metrics.example.com",
	},
	"a group that is broken on demand": {
		fault:     "broken-group:group=metrics.k8s.io,version=v1beta1",
		condition: api.NamespaceDeletionDiscoveryFailure, says: "metrics.k8s.io/v1beta1",
	},
	"a webhook that denies": {
		fault:     `webhook-denies:verb=delete,resource=configmaps,namespace=shop,message="not today"`,
		condition: api.NamespaceDeletionContentFailure, says: "denied the request: not today",
		left: []string{"/registry/configmaps/x0", "/registry/configmaps/x1", "/registry/configmaps/x2"},
	},
	"a webhook that cannot be reached": {
		fault:     "webhook-unreachable:verb=delete,resource=secrets",
		condition: api.NamespaceDeletionContentFailure, says: "failed calling webhook",
	},
	"a verb that the controller may not use": {
		fault:     "forbid:verb=deletecollection|delete,resource=secrets,user=" + clustertest.ControllerUser,
		condition: api.NamespaceDeletionContentFailure, says: "secrets is forbidden",
	},
	"a lost node keeps its pods": {
		fault: "node-lost:node=orrery-node-1", pod: 5,
		condition: api.NamespaceContentRemaining, says: "pods. has 1 resource instances",
	},
	"a pod of a lost node is deleted by force": {
		fault: "node-lost:node=orrery-node-1", pod: 5,
		condition: api.NamespaceContentRemaining, says: "pods. has 1 resource instances",
		undo: `DELETE /api/v1/namespaces/shop/pods/p {"gracePeriodSeconds":0}`,
	},
}

// The mistake is made and seen in the conditions, and is undone. Then the namespace goes, and
// nothing of it is left.
func TestMistakes(t *testing.T) {
	for name, m := range mistakes {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(c *cluster) {
				send := func(request string) {
					method, rest, _ := strings.Cut(request, " ")
					path, body, _ := strings.Cut(rest, " ")
					c.Must(method, path, body)
				}
				c.fill("shop")
				for _, request := range m.requests {
					send(request)
				}
				if m.pod > 0 {
					c.pod("shop", "p", m.pod)
				}
				heal := func() {}
				if m.fault != "" {
					heal = c.Fault(m.fault)
				}
				c.deleteNamespace("shop")
				if m.then != "" {
					send(m.then)
				}
				c.stuck("shop", m.condition, m.says)
				if m.left != nil {
					assert.ElementsMatch(t, m.left, c.left("shop"), "everything else is gone")
				}
				if m.undo == "" {
					heal()
				} else {
					send(m.undo)
				}
				c.gone("shop", 15*time.Minute)
				if _, path, _ := strings.Cut(m.then, " "); path != "" {
					assert.True(t, c.absent(path), "%s has gone, too", path)
				}
			})
		})
	}
}

// A namespace goes in spite of a fault.
func TestANamespaceGoesInSpiteOf(t *testing.T) {
	const controller = ",user=" + clustertest.ControllerUser
	for fault, limit := range map[string]time.Duration{
		"conflict:count=25,resource=namespaces/status":                   30 * time.Minute,
		"conflict:count=25,resource=namespaces/finalize":                 30 * time.Minute,
		"conflict:count=60":                                              30 * time.Minute,
		"conflict:count=10,resource=configmaps":                          30 * time.Minute,
		"cut-watches:every=1s,count=20":                                  30 * time.Minute,
		"too-many-requests:share=0.5,retry-after=1s,for=5m" + controller: time.Hour,
		"internal-error:share=0.3,for=5m" + controller:                   time.Hour,
		"unavailable:for=30s" + controller:                               time.Hour,
		"delay:by=3s,for=5m" + controller:                                time.Hour,
		"stale-reads:versions=20,for=2m":                                 time.Hour,
	} {
		t.Run(fault, func(t *testing.T) {
			inCluster(t, func(c *cluster) {
				c.fill("shop")
				c.Fault(fault)
				c.deleteNamespace("shop")
				c.gone("shop", limit)
			})
		})
	}
}

func TestHistoryIsForgottenWhileANamespaceGoes(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		c.deleteNamespace("shop")
		c.Fault("cut-watches")
		c.Fault("compact")
		c.gone("shop", 10*time.Minute)
	})
}

func TestANamespaceGoes(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		c.Must("POST", crd, clustertest.Gizmos)
		c.Must("POST", gizmos, `{"apiVersion":"example.com/v1","kind":"Gizmo","metadata":{"name":"g"}}`)
		c.deleteNamespace("shop")
		took := c.gone("shop", time.Minute)
		assert.Less(t, took, 8*time.Second, "five seconds of grace, plus the work")
		assert.GreaterOrEqual(t, took, 5*time.Second)
	})
}

func TestAnEmptyNamespaceGoesAndComesBack(t *testing.T) {
	inCluster(t, func(c *cluster) {
		for range 3 {
			c.Must("POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
			c.deleteNamespace("shop")
			c.gone("shop", time.Minute)
		}
	})
}

func TestPodsGetTheirGracePeriod(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		c.pod("shop", "short", 3)
		c.pod("shop", "long", 60)
		c.deleteNamespace("shop")
		time.Sleep(20 * time.Second)
		assert.Contains(t, c.says("shop", api.NamespaceContentRemaining), "pods. has 1 resource instances")
		took := c.gone("shop", 10*time.Minute)
		assert.Greater(t, took, 65*time.Second, "the pod has a minute")
		assert.Less(t, took, 3*time.Minute)
	})
}

func TestAFinalizerOfTheNamespaceItself(t *testing.T) {
	inCluster(t, func(c *cluster) {
		const head = `{"metadata":{"name":"shop","finalizers":["example.com/hold"]},`
		c.Must("POST", "/api/v1/namespaces", head+`"spec":{"finalizers":["openshift.com/origin"]}}`)
		c.deleteNamespace("shop")
		c.Within(time.Minute, "the controller's finalizer goes", func() bool {
			return len(c.namespace("shop").Spec.Finalizers) == 1
		})
		time.Sleep(20 * time.Minute)
		left := c.namespace("shop").Spec.Finalizers
		assert.Equal(t, []string{"openshift.com/origin"}, left, "another owner's token stays")
		c.Must("PUT", "/api/v1/namespaces/shop/finalize", head+`"spec":{"finalizers":[]}}`)
		assert.Equal(t, []string{"example.com/hold"}, c.namespace("shop").ObjectMeta.Finalizers)
		c.Must("PATCH", "/api/v1/namespaces/shop", `{"metadata":{"finalizers":null}}`)
		c.gone("shop", time.Second)
	})
}

// Owners and dependents are deleted with their namespace: collector and controller work on the same
// objects.
func TestTheCollectorHelps(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		c.Must("PATCH", "/api/v1/namespaces/shop/configmaps/x0", `{"metadata":{"finalizers":["foregroundDeletion"]}}`)
		c.deleteNamespace("shop")
		c.gone("shop", 10*time.Minute)
	})
}

func TestManyNamespacesAtOnce(t *testing.T) {
	inCluster(t, func(c *cluster) {
		names := strings.Fields("n0 n1 n2 n3 n4 n5 n6 n7 n8 n9 n10 n11")
		for _, name := range names {
			c.fill(name)
			c.pod(name, "p", 10)
		}
		for _, name := range names {
			c.deleteNamespace(name)
		}
		for _, name := range names {
			c.gone(name, 5*time.Minute)
		}
	})
}
