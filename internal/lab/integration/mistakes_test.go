package integration_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/restclient/api"
)

// These are the mistakes for which namespaces are known to hang, made against the built-in server.
// Each test makes a mistake, sees it in the conditions and undoes it; then the namespace must go
// and leave nothing behind.

func TestANamespaceGoes(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		c.custom()
		c.must("POST", "/apis/example.com/v1/namespaces/shop/gizmos", `{"apiVersion":"example.com/v1","kind":"Gizmo","metadata":{"name":"g"}}`)
		c.deleteNamespace("shop")
		took := c.gone("shop", time.Minute)
		assert.Less(t, took, 8*time.Second, "five seconds of grace, plus the work")
		assert.GreaterOrEqual(t, took, 5*time.Second)
	})
}

func TestAnEmptyNamespaceGoesAndComesBack(t *testing.T) {
	inCluster(t, func(c *cluster) {
		for range 3 {
			c.must("POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
			c.deleteNamespace("shop")
			c.gone("shop", time.Minute)
		}
	})
}

func TestAFinalizerThatIsNeverRemoved(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		c.custom()
		const gizmo = "/apis/example.com/v1/namespaces/shop/gizmos"
		c.must("POST", gizmo, `{"apiVersion":"example.com/v1","kind":"Gizmo","metadata":{"name":"g","finalizers":["example.com/hold"]}}`)
		c.deleteNamespace("shop")
		assert.Equal(t, "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
			c.stuck("shop", api.NamespaceFinalizersRemaining))
		assert.Equal(t, "Some resources are remaining: gizmos.example.com has 1 resource instances", c.says("shop", api.NamespaceContentRemaining))
		assert.Equal(t, []string{"/registry/example.com/gizmos/g"}, c.left("shop"), "everything else is gone")
		c.must("PATCH", gizmo+"/g", `{"metadata":{"finalizers":null}}`)
		c.gone("shop", 15*time.Minute)
	})
}

func TestAGroupWhoseServerIsGone(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		const service = "/apis/apiregistration.k8s.io/v1/apiservices"
		c.must("POST", service, `{"metadata":{"name":"v1beta1.metrics.example.com"},"spec":{"group":"metrics.example.com","version":"v1beta1",
			"groupPriorityMinimum":100,"versionPriority":100,"service":{"name":"metrics","namespace":"default"}}}`)
		c.deleteNamespace("shop")
		assert.Contains(t, c.stuck("shop", api.NamespaceDeletionDiscoveryFailure), "metrics.example.com/v1beta1: stale GroupVersion discovery")
		assert.Empty(t, c.left("shop"), "everything discoverable is gone")
		c.must("DELETE", service+"/v1beta1.metrics.example.com", "")
		c.gone("shop", 15*time.Minute)
	})
}

func TestAGroupThatIsBrokenOnDemand(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		heal := c.fault("broken-group:group=metrics.k8s.io,version=v1beta1")
		c.deleteNamespace("shop")
		assert.Contains(t, c.stuck("shop", api.NamespaceDeletionDiscoveryFailure), "metrics.k8s.io/v1beta1")
		heal()
		c.gone("shop", 15*time.Minute)
	})
}

func TestAWebhookThatDenies(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		heal := c.fault(`webhook-denies:verb=delete,resource=configmaps,namespace=shop,message="not today"`)
		c.deleteNamespace("shop")
		assert.Contains(t, c.stuck("shop", api.NamespaceDeletionContentFailure), "denied the request: not today")
		assert.Equal(t, []string{"/registry/configmaps/x0", "/registry/configmaps/x1", "/registry/configmaps/x2"}, c.left("shop"))
		heal()
		c.gone("shop", 15*time.Minute)
	})
}

func TestAWebhookThatCannotBeReached(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		heal := c.fault("webhook-unreachable:verb=delete,resource=secrets")
		c.deleteNamespace("shop")
		assert.Contains(t, c.stuck("shop", api.NamespaceDeletionContentFailure), "failed calling webhook")
		heal()
		c.gone("shop", 15*time.Minute)
	})
}

func TestAVerbThatTheControllerMayNotUse(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		heal := c.fault("forbid:verb=deletecollection|delete,resource=secrets,user=" + controllerUser)
		c.deleteNamespace("shop")
		assert.Contains(t, c.stuck("shop", api.NamespaceDeletionContentFailure), "secrets is forbidden")
		heal()
		c.gone("shop", 15*time.Minute)
	})
}

func TestConflictStorms(t *testing.T) {
	for name, fault := range map[string]string{
		"on the status":   "conflict:count=25,resource=namespaces/status",
		"on finalize":     "conflict:count=25,resource=namespaces/finalize",
		"on all writes":   "conflict:count=60",
		"on configmaps":   "conflict:count=10,resource=configmaps",
		"with lost watch": "cut-watches:every=1s,count=20",
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(c *cluster) {
				c.fill("shop")
				c.fault(fault)
				c.deleteNamespace("shop")
				c.gone("shop", 30*time.Minute)
			})
		})
	}
}

func TestABusyServer(t *testing.T) {
	for name, fault := range map[string]string{
		"too many requests": "too-many-requests:share=0.5,retry-after=1s,for=5m,user=" + controllerUser,
		"internal errors":   "internal-error:share=0.3,for=5m,user=" + controllerUser,
		"unavailable":       "unavailable:for=30s,user=" + controllerUser,
		"slow":              "delay:by=3s,for=5m,user=" + controllerUser,
		"lagging reads":     "stale-reads:versions=20,for=2m",
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(c *cluster) {
				c.fill("shop")
				c.fault(fault)
				c.deleteNamespace("shop")
				c.gone("shop", time.Hour)
			})
		})
	}
}

func TestHistoryIsForgottenWhileANamespaceGoes(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		c.deleteNamespace("shop")
		c.fault("cut-watches")
		c.fault("compact")
		c.gone("shop", 10*time.Minute)
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

func TestALostNodeKeepsItsPods(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		c.pod("shop", "p", 5)
		heal := c.fault("node-lost:node=orrery-node-1")
		c.deleteNamespace("shop")
		assert.Contains(t, c.stuck("shop", api.NamespaceContentRemaining), "pods. has 1 resource instances")
		heal()
		c.gone("shop", 15*time.Minute)

		c.fill("shop")
		c.pod("shop", "p", 5)
		c.fault("node-lost:node=orrery-node-1")
		c.deleteNamespace("shop")
		c.stuck("shop", api.NamespaceContentRemaining)
		c.must("DELETE", "/api/v1/namespaces/shop/pods/p", `{"gracePeriodSeconds":0}`)
		c.gone("shop", 15*time.Minute)
	})
}

func TestAFinalizerOfTheNamespaceItself(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.must("POST", "/api/v1/namespaces", `{"metadata":{"name":"shop","finalizers":["example.com/hold"]},"spec":{"finalizers":["openshift.com/origin"]}}`)
		c.deleteNamespace("shop")
		c.within(time.Minute, "the controller's finalizer goes", func() bool {
			return len(c.namespace("shop").Spec.Finalizers) == 1
		})
		time.Sleep(20 * time.Minute)
		assert.Equal(t, []string{"openshift.com/origin"}, c.namespace("shop").Spec.Finalizers, "another owner's token stays")
		c.must("PUT", "/api/v1/namespaces/shop/finalize", `{"metadata":{"name":"shop","finalizers":["example.com/hold"]},"spec":{"finalizers":[]}}`)
		assert.NotNil(t, c.namespace("shop"))
		c.must("PATCH", "/api/v1/namespaces/shop", `{"metadata":{"finalizers":null}}`)
		c.gone("shop", time.Second)
	})
}

// The definition is deleted while a terminating namespace has objects of it.
func TestADefinitionAndANamespaceGoTogether(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		c.custom()
		const gizmo = "/apis/example.com/v1/namespaces/shop/gizmos"
		c.must("POST", gizmo, `{"apiVersion":"example.com/v1","kind":"Gizmo","metadata":{"name":"g","finalizers":["example.com/hold"]}}`)
		c.deleteNamespace("shop")
		c.must("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gizmos.example.com", "")
		c.stuck("shop", api.NamespaceFinalizersRemaining)
		c.must("PATCH", gizmo+"/g", `{"metadata":{"finalizers":null}}`)
		c.gone("shop", 15*time.Minute)
		_, err := c.request("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gizmos.example.com", "", "")
		assert.True(t, api.IsNotFound(err), "%v", err)
	})
}

// Owners and dependents are deleted with their namespace: collector and controller work on the same
// objects.
func TestTheCollectorHelps(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.fill("shop")
		c.must("PATCH", "/api/v1/namespaces/shop/configmaps/x0", `{"metadata":{"finalizers":["foregroundDeletion"]}}`)
		c.deleteNamespace("shop")
		c.gone("shop", 10*time.Minute)
	})
}

func TestManyNamespacesAtOnce(t *testing.T) {
	inCluster(t, func(c *cluster) {
		names := []string{"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10", "n11"}
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
