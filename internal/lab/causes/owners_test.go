package causes_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/internal/why"
	"orrery/internal/why/collect"
)

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
			found := find(report, "C04")
			require.NotNil(t, found, text(t, report))
			assert.Equal(t, why.Proven, found.Certainty, text(t, report))
			assert.Contains(t, found.Do, kind.how)
			c.Must(http.MethodPatch, path+"/status", `{"status":`+kind.ready+`}`)
			_, report = judged(t, c, collect.Options{})
			assert.Nil(t, find(report, "C04"), "%s: %s", kind.plural, text(t, report))
			c.Must(http.MethodDelete, path, "")
		}
	})
}
