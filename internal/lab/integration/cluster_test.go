package integration_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/store"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

// cluster is the server in memory with its kubelet, its collector and the namespace controller.
type cluster struct {
	*clustertest.Cluster
	t       *testing.T
	deleted time.Time // of the last namespace
}

// inCluster runs a test in a bubble with a cluster, and checks that it leaves no goroutines.
func inCluster(t *testing.T, play func(c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{Cluster: clustertest.New(t), t: t}
		c.Start(func(ctx context.Context) error {
			<-c.RunNamespaceController(ctx)
			return nil
		})
		play(c)
	})
}

// fill creates a namespace with objects of several types.
func (c *cluster) fill(name string) {
	c.t.Helper()
	c.Must("POST", "/api/v1/namespaces", fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
	for _, kind := range []string{"configmaps", "secrets", "serviceaccounts"} {
		for i := range 3 {
			c.Must("POST", "/api/v1/namespaces/"+name+"/"+kind, fmt.Sprintf(`{"metadata":{"name":"x%d"}}`, i))
		}
	}
	c.Must("POST", "/apis/coordination.k8s.io/v1/namespaces/"+name+"/leases", `{"metadata":{"name":"x"}}`)
	c.Must("POST", "/apis/apps/v1/namespaces/"+name+"/deployments",
		`{"metadata":{"name":"web"},"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},"template":{
			"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
}

// pod creates a pod with a grace period, and waits until it runs.
func (c *cluster) pod(namespace, name string, grace int) {
	c.t.Helper()
	const pod = `{"metadata":{"name":%q},"spec":{"terminationGracePeriodSeconds":%d,"containers":[{"name":"c","image":"i"}]}}`
	c.Must("POST", "/api/v1/namespaces/"+namespace+"/pods", fmt.Sprintf(pod, name, grace))
	c.Within(time.Minute, "the pod runs", func() bool {
		made := clustertest.Get[api.Pod](c.Cluster, "/api/v1/namespaces/"+namespace+"/pods/"+name)
		return made.Status.Phase == api.PodRunning
	})
}

func (c *cluster) deleteNamespace(name string) {
	c.t.Helper()
	c.Must("DELETE", "/api/v1/namespaces/"+name, "")
	c.deleted = time.Now()
}

// namespace returns a namespace.
func (c *cluster) namespace(name string) api.Namespace {
	c.t.Helper()
	return clustertest.Get[api.Namespace](c.Cluster, "/api/v1/namespaces/"+name)
}

// absent reports whether there is nothing at a path.
func (c *cluster) absent(path string) bool {
	_, err := c.Request("GET", path, "")
	return api.IsNotFound(err)
}

// gone waits until a namespace is gone, checks that no object of it is left, and returns the time
// since its deletion.
func (c *cluster) gone(name string, limit time.Duration) time.Duration {
	c.t.Helper()
	c.Within(limit, "the namespace goes", func() bool { return c.absent("/api/v1/namespaces/" + name) })
	require.Empty(c.t, c.left(name))
	return time.Since(c.deleted)
}

// left returns the objects in a namespace's store as kind/name.
func (c *cluster) left(namespace string) []string {
	var found []string
	for _, d := range c.Server.Catalog().All() {
		view, err := c.Server.Store().Collection(d.Prefix).View(0)
		require.NoError(c.t, err)
		view.Ascend(namespace, store.Key{}, func(o *store.Object) bool {
			if o.Key.Namespace == namespace {
				found = append(found, d.Prefix+"/"+o.Key.Name)
			}
			return true
		})
	}
	slices.Sort(found)
	return slices.Compact(found) // versions of a type share their objects
}

// says returns the message of a condition that is true, or "".
func (c *cluster) says(name string, condition api.NamespaceConditionType) string {
	c.t.Helper()
	n := c.namespace(name)
	require.Equal(c.t, api.NamespaceTerminating, n.Status.Phase)
	require.NotNil(c.t, n.DeletionTimestamp)
	for _, one := range n.Status.Conditions {
		if one.Type == condition && one.Status == api.ConditionTrue {
			return one.Message
		}
	}
	return ""
}

// stuck waits until a condition is true and has a message with these words, and checks that the
// namespace stays.
func (c *cluster) stuck(name string, condition api.NamespaceConditionType, words string) {
	c.t.Helper()
	c.Within(time.Minute, string(condition), func() bool { return c.says(name, condition) != "" })
	message := c.says(name, condition)
	assert.Contains(c.t, message, words)
	time.Sleep(20 * time.Minute)
	require.Equal(c.t, message, c.says(name, condition), "twenty minutes later")
}
