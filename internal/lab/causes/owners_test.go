package causes_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/internal/why"
	"orrery/internal/why/collect"
	"orrery/restclient"
)

// The owner of a built-in type's finalizer may be in no table: managedFields name it, and its
// Deployment is to be brought back. That it is gone is not proven: another program may remove the
// finalizer.
func TestUnlistedOwnerOfABuiltInType(t *testing.T) {
	inWorld(t, causes.Fixture{}, func(*causes.World) {}, time.Second, func(t *testing.T, c *clustertest.Cluster) {
		c.Must(http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
		c.Must(http.MethodPost, "/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"db-operator"},"spec":{"replicas":0,
			"selector":{"matchLabels":{"app":"db"}},"template":{"metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
		const rbac = "/apis/rbac.authorization.k8s.io/v1/"
		c.Must(http.MethodPost, rbac+"clusterroles", `{"metadata":{"name":"db"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["update"]}]}`)
		c.Must(http.MethodPost, rbac+"clusterrolebindings", `{"metadata":{"name":"db"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"db"},
			"subjects":[{"kind":"ServiceAccount","namespace":"default","name":"default"}]}`)
		require.NoError(t, c.Admin().Do(t.Context(), restclient.Request{
			Verb: http.MethodPost, Path: "/api/v1/namespaces/shop/configmaps", Query: url.Values{"fieldManager": {"db-operator"}},
			ContentType: "application/json", Body: []byte(`{"metadata":{"name":"dsn","finalizers":["db.example.com/dsn"]}}`),
		}, nil))
		c.Must(http.MethodDelete, "/api/v1/namespaces/shop", "")
		time.Sleep(causes.Settled)
		_, report := judged(t, c, collect.Options{})
		found := mustFind(t, report, "C04", why.Possible)
		assert.Equal(t, "kubectl -n default scale deployment/db-operator --replicas=1", found.Do[0])
	})
}

// An owner may run as a Deployment, a StatefulSet or a DaemonSet. While one of them has a ready
// pod, the owner is not called gone; without, the report names each and says how to bring it back.
func TestKindsOfOwners(t *testing.T) {
	f, ok := causes.Find("C04")
	require.True(t, ok)
	inWorld(t, f, f.SetUp, f.Settle, func(t *testing.T, c *clustertest.Cluster) {
		const apps = "/apis/apps/v1/namespaces/keda/"
		c.Must(http.MethodDelete, apps+"deployments/keda-operator", "")
		for _, kind := range []struct{ plural, spec, absent, ready, how string }{
			{"deployments", `"replicas":0,`, `{}`, `{"replicas":1,"readyReplicas":1}`, "kubectl -n keda scale deployment/keda-operator --replicas=1"},
			{"statefulsets", `"replicas":2,`, `{}`, `{"replicas":1,"readyReplicas":1}`, "find out why statefulset keda/keda-operator has no ready pod"},
			{
				"daemonsets", "", `{"desiredNumberScheduled":3}`, `{"desiredNumberScheduled":3,"numberReady":1}`,
				"find out why daemonset keda/keda-operator has no ready pod",
			},
		} {
			path := apps + kind.plural + "/keda-operator"
			c.Must(http.MethodPost, apps+kind.plural, `{"metadata":{"name":"keda-operator"},"spec":{`+kind.spec+`"selector":{"matchLabels":{"app":"keda"}},
				"template":{"metadata":{"labels":{"app":"keda"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
			c.Must(http.MethodPatch, path+"/status", `{"status":`+kind.absent+`}`)
			_, report := judged(t, c, collect.Options{})
			assert.Equal(t, why.Possible, find(report, "C04").Certainty, "it may be starting, or have just been stopped: %s", text(t, report))
			time.Sleep(10 * time.Minute)
			_, report = judged(t, c, collect.Options{})
			found := mustFind(t, report, "C04", why.Proven)
			assert.Contains(t, found.Do, kind.how)
			c.Must(http.MethodPatch, path+"/status", `{"status":`+kind.ready+`}`)
			_, report = judged(t, c, collect.Options{})
			assert.Nil(t, find(report, "C04"), "%s: %s", kind.plural, text(t, report))
			c.Must(http.MethodDelete, path, "")
		}
	})
}
