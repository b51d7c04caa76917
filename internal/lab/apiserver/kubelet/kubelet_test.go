package kubelet

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// cluster is a registry with a kubelet that runs until the test ends.
type cluster struct {
	t        *testing.T
	registry *registry.Registry
	catalog  *resources.Catalog
	lost     atomic.Bool
}

// start runs a kubelet. It must be called in a synctest bubble, which proves that no goroutine is
// left.
func start(t *testing.T, config Config, admit func(context.Context, registry.Attributes) error) *cluster {
	catalog := resources.NewCatalog()
	c := &cluster{t: t, catalog: catalog}
	c.registry = registry.New(registry.Config{Store: store.New(store.Config{}), Catalog: catalog, Admit: admit})
	config.Registry, config.Catalog = c.registry, catalog
	config.Lost = func(string) bool { return c.lost.Load() }
	if config.Stays == nil {
		config.Stays = func(string, string) bool { return false }
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { New(config).Run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	synctest.Wait()
	return c
}

// state settles the kubelet and returns the phase and the node of a pod.
func (c *cluster) state(name string) string {
	synctest.Wait()
	pod := c.get(name)
	return pod.NestedString("status", "phase") + " " + pod.NestedString("spec", "nodeName")
}

func (c *cluster) at(group, resource, namespace, name string) registry.Target {
	t := target(c.catalog, group, "v1", resource)
	t.Namespace, t.Name = namespace, name
	return t
}

func (c *cluster) pod(name string) registry.Target { return c.at("", "pods", "default", name) }

func (c *cluster) node(name string) registry.Target { return c.at("", "nodes", "", name) }

func (c *cluster) create(name string, annotations map[string]any, spec map[string]any) {
	if spec == nil {
		spec = map[string]any{}
	}
	spec["containers"] = []any{map[string]any{"name": "main", "image": "nothing:1"}}
	c.make(c.pod(""), map[string]any{"name": name, "namespace": "default", "annotations": annotations}, spec)
}

func (c *cluster) make(t registry.Target, metadata, spec map[string]any) {
	_, err := c.registry.Create(c.t.Context(), t,
		&api.Unstructured{Object: map[string]any{"metadata": metadata, "spec": spec}}, registry.WriteOptions{})
	require.NoError(c.t, err)
}

func (c *cluster) get(name string) *api.Unstructured { return c.read(c.pod(name)) }

func (c *cluster) read(t registry.Target) *api.Unstructured {
	stored, err := c.registry.Get(t, api.GetOptions{})
	require.NoError(c.t, err)
	return stored.Decode()
}

func (c *cluster) delete(name string, grace *int64) { c.remove(c.pod(name), grace) }

// remove deletes an object, and reports whether it is gone.
func (c *cluster) remove(t registry.Target, grace *int64) bool {
	_, gone, err := c.registry.Delete(c.t.Context(), t, api.DeleteOptions{GracePeriodSeconds: grace},
		registry.WriteOptions{})
	require.NoError(c.t, err)
	return gone
}

func (c *cluster) gone(name string) bool {
	synctest.Wait()
	_, err := c.registry.Get(c.pod(name), api.GetOptions{})
	return api.IsNotFound(err)
}

func TestPodRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Nodes: 2}, nil)
		c.create("a", nil, nil)
		assert.Equal(t, "Running orrery-node-1", c.state("a"))
		c.create("b", nil, nil)
		assert.Equal(t, "Running orrery-node-2", c.state("b"))
		pod := c.get("a")
		assert.Equal(t, "10.244.0.1", pod.NestedString("status", "podIP"))
		assert.Len(t, pod.Nested("status", "containerStatuses"), 1)

		c.create("gated", nil, map[string]any{"schedulingGates": []any{map[string]any{"name": "example.com/wait"}}})
		assert.Equal(t, "Pending ", c.state("gated"))
		c.patch(c.pod("gated"), func(pod *api.Unstructured) { pod.RemoveNested("spec", "schedulingGates") })
		assert.Equal(t, "Running orrery-node-1", c.state("gated"))
	})
}

// cordon keeps new pods from the first node, or no longer.
func (c *cluster) cordon(cordoned bool) {
	c.patch(c.node("orrery-node-1"), func(o *api.Unstructured) { _ = o.SetNested(cordoned, "spec", "unschedulable") })
}

func (c *cluster) patch(t registry.Target, change func(o *api.Unstructured)) {
	_, err := c.registry.Patch(c.t.Context(), t, func(o *api.Unstructured) (*api.Unstructured, error) {
		change(o)
		return o, nil
	}, registry.WriteOptions{})
	require.NoError(c.t, err)
}

// A pod is not bound to a cordoned node. It is Pending until the node changes.
func TestNoPodIsBoundToACordonedNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, nil)
		c.cordon(true)
		c.create("a", nil, nil)
		time.Sleep(time.Minute)
		require.Equal(t, "Pending ", c.state("a"))
		c.cordon(false)
		time.Sleep(2 * time.Second)
		assert.Equal(t, "Running orrery-node-1", c.state("a"), "want the pod on the node once it may go there")
	})
}

// With two nodes the pods go to the one that is not cordoned. A pod that names its node is not
// scheduled, and one of another scheduler waits for that. A deleted node gets no pod.
func TestPodsAndTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Nodes: 2}, nil)
		c.cordon(true)
		nodeOf := func(name string, spec map[string]any) string {
			c.create(name, nil, spec)
			time.Sleep(2 * time.Second)
			return c.get(name).NestedString("spec", "nodeName")
		}
		for _, name := range []string{"a", "b", "c"} {
			assert.Equal(t, "orrery-node-2", nodeOf(name, nil), "%s goes to the node that is not cordoned", name)
		}
		assert.Equal(t, "orrery-node-1", nodeOf("named", map[string]any{"nodeName": "orrery-node-1"}))
		assert.Equal(t, "Running", c.get("named").NestedString("status", "phase"), "a cordon concerns scheduling only")
		assert.Empty(t, nodeOf("theirs", map[string]any{"schedulerName": "another"}),
			"another scheduler binds its pods")

		c.remove(c.node("orrery-node-2"), nil)
		assert.Empty(t, nodeOf("late", nil))
	})
}

func TestClaimsGoWhenNoPodUsesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, nil)
		claim := func(name string) registry.Target { return c.at("", "persistentvolumeclaims", "default", name) }
		exists := func(name string) bool {
			_, err := c.registry.Get(claim(name), api.GetOptions{})
			return err == nil
		}
		for name, finalizers := range map[string][]any{"used": nil, "unused": nil, "kept": nil, "held": {"example.com/own"}} {
			c.make(claim(""), map[string]any{"name": name, "namespace": "default", "finalizers": finalizers},
				map[string]any{"accessModes": []any{"ReadWriteOnce"},
					"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}})
		}
		c.create("user", map[string]any{StopsAfter: "5s"}, map[string]any{"volumes": []any{
			map[string]any{"name": "other", "emptyDir": map[string]any{}},
			map[string]any{"name": "disk", "persistentVolumeClaim": map[string]any{"claimName": "used"}},
		}})
		c.create("failed", nil, map[string]any{"volumes": []any{
			map[string]any{"name": "disk", "persistentVolumeClaim": map[string]any{"claimName": "unused"}},
		}})
		synctest.Wait()
		failed := c.pod("failed")
		failed.Subresource = "status"
		c.patch(failed, func(pod *api.Unstructured) { _ = pod.SetNested("Failed", "status", "phase") })
		for _, name := range []string{"used", "unused", "held"} {
			assert.False(t, c.remove(claim(name), nil), "held by the finalizer at first")
		}
		time.Sleep(3 * time.Second)
		assert.False(t, exists("unused"), "a pod that has failed does not use it")
		assert.True(t, exists("used"), "used by a pod")
		assert.True(t, exists("held"), "other finalizers stay")
		assert.True(t, exists("kept"), "not deleted")
		c.delete("user", nil)
		time.Sleep(8 * time.Second)
		assert.False(t, exists("used"))
		assert.Equal(t, []string{"example.com/own"}, c.read(claim("held")).GetFinalizers())
	})
}

// The pod goes, and another of its name comes, while the kubelet is about to delete it.
func TestAPodThatIsCreatedAgainIsSpared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *cluster
		var once sync.Once
		c = start(t, Config{Stays: func(string, string) bool {
			once.Do(func() { c.delete("a", new(int64(0))); c.create("a", nil, nil) })
			return false
		}}, nil)
		c.create("a", map[string]any{StopsAfter: "0s"}, nil)
		synctest.Wait()
		c.delete("a", nil)
		assert.False(t, c.gone("a"), "the kubelet deleted another pod of the same name")
	})
}

// Containers stop after the annotation's time, at most after the grace period, which is the
// default.
func TestContainersThatListenStopSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, nil)
		for name, says := range map[string]string{"soon": "2s", "at-once": "-1h", "late": "10h", "nonsense": "soon",
			"hurried": "10h"} {
			c.create(name, map[string]any{StopsAfter: says}, nil)
			synctest.Wait()
			c.delete(name, nil)
		}
		assert.True(t, c.gone("at-once"))
		time.Sleep(3 * time.Second)
		assert.True(t, c.gone("soon"))
		c.delete("hurried", new(int64(26)))
		time.Sleep(25 * time.Second)
		assert.True(t, c.gone("hurried"), "a second DELETE shortens the grace period, and does not begin another one")
		assert.False(t, c.gone("late") || c.gone("nonsense"))
		time.Sleep(2 * time.Second)
		assert.True(t, c.gone("late"), "the grace period is the limit")
		assert.True(t, c.gone("nonsense"))
	})
}

func TestLostNodeHoldsItsPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, nil)
		c.create("a", nil, nil)
		synctest.Wait()
		c.lost.Store(true)
		c.delete("a", new(int64(5)))
		c.create("unscheduled", nil, nil)
		time.Sleep(time.Hour)
		assert.False(t, c.gone("a"))
		assert.Empty(t, c.get("unscheduled").NestedString("spec", "nodeName"))
		conditions := func() string { return fmt.Sprint(c.read(c.node("orrery-node-1")).Nested("status", "conditions")) }
		assert.Contains(t, conditions(), "NodeStatusUnknown")

		c.lost.Store(false)
		time.Sleep(2 * time.Second)
		assert.True(t, c.gone("a"))
		assert.Equal(t, "Running", c.get("unscheduled").NestedString("status", "phase"))
		assert.NotContains(t, conditions(), "Unknown")
	})
}

func TestFinalizerOutlivesTheContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deletions := 0
		c := start(t, Config{}, func(_ context.Context, a registry.Attributes) error {
			if a.Verb == "delete" && a.User == "system:node:orrery-node-1" {
				deletions++
			}
			return nil
		})
		c.create("held", nil, nil)
		require.Equal(t, "Running orrery-node-1", c.state("held"))
		c.patch(c.pod("held"), func(o *api.Unstructured) { _ = o.SetNested([]any{"x/hold"}, "metadata", "finalizers") })
		c.delete("held", new(int64(3)))
		time.Sleep(time.Minute)
		require.False(t, c.gone("held"))
		assert.Equal(t, 1, deletions, "the containers end once")
	})
}

func TestNodeIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, nil)
		lease := c.at("coordination.k8s.io", "leases", "kube-node-lease", "orrery-node-1")
		read := func() string { return c.read(lease).NestedString("spec", "renewTime") }
		first := read()
		time.Sleep(time.Minute)
		assert.Greater(t, read(), first)
		c.remove(lease, nil)
		time.Sleep(time.Minute)
		assert.Greater(t, read(), first, "a deleted lease is created again")
	})
}
