package served_test

import (
	"context"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/clientcmd"
)

// The written and observed types.
var (
	namespaces  = corev1.SchemeGroupVersion.WithResource("namespaces")
	configMaps  = corev1.SchemeGroupVersion.WithResource("configmaps")
	secrets     = corev1.SchemeGroupVersion.WithResource("secrets")
	pods        = corev1.SchemeGroupVersion.WithResource("pods")
	deployments = appsv1.SchemeGroupVersion.WithResource("deployments")
	widgets     = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"}
)

// clients are client-go's three clients. The typed one asks for protobuf, its default, and gets
// JSON; it writes nothing.
type clients struct {
	typed    kubernetes.Interface
	dynamic  dynamic.Interface
	metadata metadata.Interface
}

func newClients(t *testing.T, kubeconfig string) *clients {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	config.QPS = -1
	// They have their own connections, since the test breaks those of other clients.
	config.Dial = new(net.Dialer).DialContext
	c := &clients{}
	c.typed, err = kubernetes.NewForConfig(config)
	require.NoError(t, err)
	c.dynamic, err = dynamic.NewForConfig(config)
	require.NoError(t, err)
	c.metadata, err = metadata.NewForConfig(config)
	require.NoError(t, err)
	return c
}

const widgetDefinition = `{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
	"metadata": {"name": "widgets.example.org"},
	"spec": {
		"group": "example.org", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
		"versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
			"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]
	}
}`

// defineWidgets adds a custom type.
func (c *clients) defineWidgets(t *testing.T) {
	t.Helper()
	definition := &unstructured.Unstructured{}
	require.NoError(t, definition.UnmarshalJSON([]byte(widgetDefinition)))
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions"}
	_, err := c.dynamic.Resource(definitions).Create(t.Context(), definition, metav1.CreateOptions{})
	require.NoError(t, err)
	await(t, nil, "widgets are served", func() error {
		_, err := c.dynamic.Resource(widgets).List(t.Context(), metav1.ListOptions{})
		return err
	})
}

// informers returns one informer of each sort.
func (c *clients) informers(t *testing.T, streaming bool) []*watched {
	t.Helper()
	name := func(format string, args ...any) string {
		way := "lists and watches"
		if streaming {
			way = "streaming lists"
		}
		return fmt.Sprintf(format, args...) + ", " + way
	}
	core, all := c.typed.CoreV1(), metav1.NamespaceAll
	watchers := []*watched{
		observe(name("typed namespaces"), streaming, &corev1.Namespace{}, "", core.Namespaces().List,
			core.Namespaces().Watch),
		observe(name("typed configmaps"), streaming, &corev1.ConfigMap{}, "", core.ConfigMaps(all).List,
			core.ConfigMaps(all).Watch),
		observe(name("typed configmaps of one namespace"), streaming, &corev1.ConfigMap{}, "",
			core.ConfigMaps("default").List, core.ConfigMaps("default").Watch),
		observe(name("typed configmaps by label"), streaming, &corev1.ConfigMap{}, evenOnes, core.ConfigMaps(all).List,
			core.ConfigMaps(all).Watch),
		observe(name("typed secrets"), streaming, &corev1.Secret{}, "", core.Secrets(all).List,
			core.Secrets(all).Watch),
		observe(name("typed pods"), streaming, &corev1.Pod{}, "", core.Pods(all).List, core.Pods(all).Watch),
		observe(name("typed deployments"), streaming, &appsv1.Deployment{}, "", c.typed.AppsV1().Deployments(all).List,
			c.typed.AppsV1().Deployments(all).Watch),
	}
	for _, resource := range []schema.GroupVersionResource{configMaps, deployments, widgets} {
		client := c.dynamic.Resource(resource)
		watchers = append(watchers, observe(name("dynamic %s", resource.Resource), streaming,
			&unstructured.Unstructured{}, "", client.List, client.Watch))
	}
	watchers = append(watchers,
		observe(name("dynamic widgets by label"), streaming, &unstructured.Unstructured{}, evenOnes,
			c.dynamic.Resource(widgets).List, c.dynamic.Resource(widgets).Watch))
	for _, resource := range []schema.GroupVersionResource{namespaces, secrets, widgets} {
		client := c.metadata.Resource(resource)
		watchers = append(watchers, observe(name("metadata of %s", resource.Resource), streaming,
			&metav1.PartialObjectMetadata{}, "", listHeads(client), client.Watch))
	}
	return watchers
}

// listHeads lists as the metadata client does, whose items have no kind. In JSON lists alone they
// have one, and that client asks for protobuf.
func listHeads(client metadata.Getter) func(context.Context,
	metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	return func(ctx context.Context, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
		list, err := client.List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			list.Items[i].TypeMeta = metav1.TypeMeta{}
		}
		return list, nil
	}
}
