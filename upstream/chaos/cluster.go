package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"orrery/internal/lab/chaos"
	"orrery/upstream/controlplane"
)

var (
	namespaces      = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	configMaps      = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets         = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	widgets         = schema.GroupVersionResource{Group: "chaos.example.org", Version: "v1", Resource: "widgets"}
	definitions     = schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
	roleBindings = schema.GroupVersionResource{
		Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings",
	}
)

// contentTypes are the types of the objects in the namespaces.
var contentTypes = []schema.GroupVersionResource{configMaps, secrets, serviceAccounts, widgets}

// orreryUser is the user of orrery; namespaceRole has the rights of the built-in namespace
// controller.
const (
	orreryUser    = "chaos:orrery"
	namespaceRole = "system:controller:namespace-controller"
)

// requestTimeout bounds the run's own requests.
const requestTimeout = 10 * time.Second

// cluster is the control plane with the run's own client, client-go's, straight to kube-apiserver.
type cluster struct {
	*controlplane.ControlPlane
	client dynamic.Interface
}

// document is a decoded JSON object.
type document = map[string]any

func startCluster(ctx context.Context, config controlplane.Config) (*cluster, error) {
	cp, err := controlplane.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	c := &cluster{ControlPlane: cp}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, cp.Stop())
	}
	return c, nil
}

// prepare creates what every run needs.
func (c *cluster) prepare(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		return err
	}
	config.QPS = -1 // the writers set the rate
	config.Timeout = requestTimeout
	if c.client, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	if err := c.create(ctx, definitions, widgetDefinition()); err != nil {
		return err
	}
	if err := c.create(ctx, roleBindings, orreryRights()); err != nil {
		return err
	}
	if err := c.create(ctx, namespaces, newNamespace(steadyNamespace)); err != nil {
		return err
	}
	return c.eventually(ctx, func(ctx context.Context) error {
		_, err := c.client.Resource(widgets).List(ctx, metav1.ListOptions{})
		return err
	})
}

func (c *cluster) create(
	ctx context.Context, gvr schema.GroupVersionResource, object *unstructured.Unstructured,
) error {
	_, err := c.client.Resource(gvr).Create(ctx, object, metav1.CreateOptions{})
	return err
}

func widgetDefinition() *unstructured.Unstructured {
	version := document{
		"name": widgets.Version, "served": true, "storage": true,
		"schema": document{"openAPIV3Schema": document{"type": "object"}},
	}
	return &unstructured.Unstructured{Object: document{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": document{"name": widgets.Resource + "." + widgets.Group},
		"spec": document{
			"group": widgets.Group, "scope": "Namespaced",
			"names":    document{"plural": widgets.Resource, "singular": "widget", "kind": "Widget"},
			"versions": []any{version},
		},
	}}
}

func orreryRights() *unstructured.Unstructured {
	const group = "rbac.authorization.k8s.io"
	return &unstructured.Unstructured{Object: document{
		"apiVersion": group + "/v1", "kind": "ClusterRoleBinding", "metadata": document{"name": "chaos-orrery"},
		"roleRef":  document{"apiGroup": group, "kind": "ClusterRole", "name": namespaceRole},
		"subjects": []any{document{"apiGroup": group, "kind": "User", "name": orreryUser}},
	}}
}

func newNamespace(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: document{
		"apiVersion": "v1", "kind": "Namespace", "metadata": document{"name": name},
	}}
}

// host returns the address of kube-apiserver.
func (c *cluster) host() string { return strings.TrimPrefix(c.Server(), "https://") }

// replaceHost returns a kubeconfig file for another address.
func replaceHost(kubeconfig []byte, from, to string) []byte {
	return bytes.ReplaceAll(kubeconfig, []byte(from), []byte(to))
}

// states lists a type by a consistent read.
func (c *cluster) states(ctx context.Context, gvr schema.GroupVersionResource) (map[string]chaos.State, error) {
	list, err := c.client.Resource(gvr).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	found := map[string]chaos.State{}
	for i := range list.Items {
		item := stated{&list.Items[i]}
		found[keyOf(item)] = chaos.StateOf(item)
	}
	return found, nil
}

// eventually repeats a call until it succeeds, the context ends or the time is over.
func (c *cluster) eventually(ctx context.Context, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		pause(ctx, 200*time.Millisecond)
		if died := c.Err(); died != nil || ctx.Err() != nil {
			return errors.Join(err, died)
		}
	}
}

// stated gives an object of client-go a history.
type stated struct{ *unstructured.Unstructured }

func (s stated) GetUID() string { return string(s.Unstructured.GetUID()) }
