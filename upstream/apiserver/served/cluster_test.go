package served_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"orrery/upstream/apiserver/served"
)

// cluster is the server with clients, for one test.
type cluster struct {
	*clients
	t      *testing.T
	ctx    context.Context
	server *served.Server
}

func newCluster(t *testing.T, server *served.Server) *cluster {
	t.Helper()
	return &cluster{clients: newClients(t, server.Kubeconfig()), t: t, ctx: t.Context(), server: server}
}

func (c *cluster) eventually(what string, probe func() (bool, error)) {
	c.t.Helper()
	await(c.t, c.server.Done(), what, func() error {
		ok, err := probe()
		if err == nil && !ok {
			err = errors.New("not yet")
		}
		return err
	})
}

func (c *cluster) createNamespace(name string) {
	c.t.Helper()
	_, err := c.typed.CoreV1().Namespaces().Create(c.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(c.t, err)
}

func (c *cluster) deleteNamespace(name string) {
	c.t.Helper()
	require.NoError(c.t, c.typed.CoreV1().Namespaces().Delete(c.ctx, name, metav1.DeleteOptions{}))
}

func (c *cluster) namespace(name string) *corev1.Namespace {
	c.t.Helper()
	namespace, err := c.typed.CoreV1().Namespaces().Get(c.ctx, name, metav1.GetOptions{})
	require.NoError(c.t, err)
	return namespace
}

// awaitDefaults blocks until a namespace has its default content.
func (c *cluster) awaitDefaults(namespace string) {
	c.t.Helper()
	c.eventually("namespace "+namespace+" has its service account and its bundle", func() (bool, error) {
		if _, err := c.typed.CoreV1().ServiceAccounts(namespace).Get(c.ctx, "default", metav1.GetOptions{}); err != nil {
			return false, err
		}
		_, err := c.typed.CoreV1().ConfigMaps(namespace).Get(c.ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil, err
	})
}

// awaitConditions blocks until the namespace's conditions have these reasons and messages.
func (c *cluster) awaitConditions(name string, want map[corev1.NamespaceConditionType]string) {
	c.t.Helper()
	have := map[corev1.NamespaceConditionType]string{}
	c.eventually("the conditions are as expected", func() (bool, error) {
		namespace, err := c.typed.CoreV1().Namespaces().Get(c.ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		clear(have)
		for _, condition := range namespace.Status.Conditions {
			have[condition.Type] = condition.Reason + ": " + condition.Message
		}
		if !assert.ObjectsAreEqual(want, have) {
			return false, fmt.Errorf("%v", have)
		}
		return true, nil
	})
}

// awaitGone blocks until a namespace is gone and checks that nothing of it is left.
func (c *cluster) awaitGone(name string) {
	c.t.Helper()
	c.eventually("namespace "+name+" is gone", func() (bool, error) {
		namespace, err := c.typed.CoreV1().Namespaces().Get(c.ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err == nil {
			err = fmt.Errorf("it says %v", namespace.Status.Conditions)
		}
		return false, err
	})
	require.Empty(c.t, c.content(name), "objects left of namespace %s", name)
}

// listable returns the namespaced types that can be listed, by client-go's discovery.
func (c *cluster) listable() map[schema.GroupVersionResource]metav1.APIResource {
	c.t.Helper()
	lists, err := c.typed.Discovery().ServerPreferredNamespacedResources()
	require.NoError(c.t, err)
	found := map[schema.GroupVersionResource]metav1.APIResource{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		require.NoError(c.t, err)
		for _, resource := range list.APIResources {
			if slices.Contains(resource.Verbs, "list") && gv.Group != "events.k8s.io" { // Events have two groups
				found[gv.WithResource(resource.Name)] = resource
			}
		}
	}
	return found
}

// content returns the names of a namespace's objects, by resource.
func (c *cluster) content(namespace string) map[string][]string {
	c.t.Helper()
	content := map[string][]string{}
	for resource := range c.listable() {
		list, err := c.dynamic.Resource(resource).Namespace(namespace).List(c.ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // a custom type that is gone
		}
		require.NoError(c.t, err)
		for _, item := range list.Items {
			group := resource.GroupResource().String()
			content[group] = append(content[group], item.GetName())
		}
	}
	for _, names := range content {
		slices.Sort(names)
	}
	return content
}

func (c *cluster) create(resource schema.GroupVersionResource, namespace string, object *unstructured.Unstructured) {
	c.t.Helper()
	_, err := c.dynamic.Resource(resource).Namespace(namespace).Create(c.ctx, object, metav1.CreateOptions{})
	require.NoError(c.t, err, "%s %s", resource.Resource, object.GetName())
}

// free removes the finalizers of an object.
func (c *cluster) free(resource schema.GroupVersionResource, namespace, name string) {
	c.t.Helper()
	_, err := c.dynamic.Resource(resource).Namespace(namespace).Patch(c.ctx, name, types.MergePatchType,
		[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(c.t, err)
}
