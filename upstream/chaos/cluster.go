package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"orrery/internal/lab/chaos/history"
	"orrery/upstream/controlplane"
)

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
	if err = c.prepare(ctx); err != nil {
		return nil, errors.Join(err, cp.Stop())
	}
	return c, nil
}

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
	for _, gvr := range []schema.GroupVersionResource{widgets, gears} {
		if err := c.define(ctx, gvr); err != nil {
			return err
		}
	}
	if err := c.createRole(ctx); err != nil {
		return err
	}
	return c.grant(ctx)
}

// define makes the API server serve a type and waits until it does. The type may exist or be
// terminating.
func (c *cluster) define(ctx context.Context, gvr schema.GroupVersionResource) error {
	kind := map[string]string{widgets.Resource: "Widget", gears.Resource: "Gear"}[gvr.Resource]
	definition := &unstructured.Unstructured{Object: document{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": document{"name": gvr.Resource + "." + gvr.Group},
		"spec": document{
			"group": gvr.Group, "scope": "Namespaced",
			"names": document{"plural": gvr.Resource, "singular": strings.ToLower(kind), "kind": kind, "listKind": kind + "List"},
			"versions": []any{document{
				"name": gvr.Version, "served": true, "storage": true,
				"schema": document{"openAPIV3Schema": document{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
	return c.eventually(ctx, gvr.Resource+" are served", func(ctx context.Context) error {
		present, err := c.client.Resource(definitions).Get(ctx, definition.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			if _, err = c.client.Resource(definitions).Create(ctx, definition, metav1.CreateOptions{}); err != nil {
				return err
			}
		case err != nil:
			return err
		case present.GetDeletionTimestamp() != nil:
			return errors.New("the definition is terminating")
		}
		_, err = c.client.Resource(gvr).List(ctx, metav1.ListOptions{Limit: 1})
		return err
	})
}

// undefine begins to remove a type.
func (c *cluster) undefine(ctx context.Context, gvr schema.GroupVersionResource) error {
	return c.client.Resource(definitions).Delete(ctx, gvr.Resource+"."+gvr.Group, metav1.DeleteOptions{})
}

// roleName is the role of the replicas beside the namespace controller's.
const roleName = "chaos-orrery"

// createRole grants the rights for election and events, which the built-in role of the namespace
// controller lacks.
func (c *cluster) createRole(ctx context.Context) error {
	rule := func(group, resource string, verbs ...any) any {
		return document{"apiGroups": []any{group}, "resources": []any{resource}, "verbs": verbs}
	}
	_, err := c.client.Resource(clusterRoles).Create(ctx, &unstructured.Unstructured{Object: document{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": document{"name": roleName},
		"rules": []any{
			rule("coordination.k8s.io", "leases", "get", "list", "watch", "create", "update", "patch"),
			rule("", "events", "create", "patch", "update"),
		},
	}}, metav1.CreateOptions{})
	return err
}

// replicaUser returns the user of a replica.
func replicaUser(name string) string { return "chaos:" + name }

// grant grants the replicas their rights; revoke revokes them.
func (c *cluster) grant(ctx context.Context) error {
	for _, role := range []string{roleName, "system:controller:namespace-controller"} {
		var subjects []any
		for i := range mostReplicas {
			subjects = append(subjects, document{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": replicaUser(replicaName(i))})
		}
		binding := &unstructured.Unstructured{Object: document{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": document{"name": bindingOf(role)},
			"roleRef":  document{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
			"subjects": subjects,
		}}
		if err := c.eventually(ctx, "the replicas have their rights", func(ctx context.Context) error {
			_, err := c.client.Resource(roleBindings).Create(ctx, binding, metav1.CreateOptions{})
			return ignore(err, apierrors.IsAlreadyExists)
		}); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) revoke(ctx context.Context) error {
	// If the server does not answer, the rights stay; that is a fault as well.
	_ = c.client.Resource(roleBindings).Delete(ctx, bindingOf("system:controller:namespace-controller"), metav1.DeleteOptions{})
	return nil
}

func bindingOf(role string) string { return "chaos-" + role[max(0, len(role)-20):] }

// mostReplicas is the largest number of replicas in a plan.
const mostReplicas = 2

// freeze pauses a component, like a machine that swaps.
func (c *cluster) freeze(ctx context.Context, component string, d time.Duration) error {
	pid, running := c.PIDs()[component]
	if !running {
		return fmt.Errorf("%s does not run", component)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	pause(ctx, d)
	return syscall.Kill(pid, syscall.SIGCONT)
}

// states lists a type by a consistent read.
func (c *cluster) states(ctx context.Context, gvr schema.GroupVersionResource) (map[string]history.State, error) {
	list, err := c.client.Resource(gvr).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	found := map[string]history.State{}
	for i := range list.Items {
		item := &list.Items[i]
		key := item.GetName()
		if namespace := item.GetNamespace(); namespace != "" {
			key = namespace + "/" + key
		}
		found[key] = history.StateOf(stated{item})
	}
	return found, nil
}

// content lists the objects in a namespace. A type that is not served has none.
func (c *cluster) content(ctx context.Context, namespace string) (found []string, err error) {
	for _, gvr := range contentTypes {
		list, err := c.client.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if ignore(err, apierrors.IsNotFound) != nil {
			return nil, err
		}
		if err != nil {
			continue
		}
		for _, item := range list.Items {
			found = append(found, gvr.Resource+"/"+item.GetName())
		}
	}
	return found, nil
}

// eventually repeats a request until it succeeds or the context ends.
func (c *cluster) eventually(ctx context.Context, what string, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		pause(ctx, 100*time.Millisecond)
		if ctx.Err() != nil {
			return fmt.Errorf("waiting until %s: %w", what, err)
		}
		if err := c.Err(); err != nil {
			return fmt.Errorf("waiting until %s: %w", what, err)
		}
	}
}

// ignore returns nil for an error of a certain kind.
func ignore(err error, kind func(error) bool) error {
	if err != nil && kind(err) {
		return nil
	}
	return err
}

func (c *cluster) createNamespace(ctx context.Context, name string) error {
	_, err := c.client.Resource(namespaces).Create(ctx, &unstructured.Unstructured{Object: document{
		"apiVersion": "v1", "kind": "Namespace", "metadata": document{"name": name},
	}}, metav1.CreateOptions{})
	return err
}

// replaceControllerManager starts kube-controller-manager after it was killed, and waits until it
// has filled a new namespace: during its start it does not survive an API server that goes away.
func (c *cluster) replaceControllerManager(ctx context.Context) error {
	if err := c.StartControllerManager(ctx); err != nil {
		return err
	}
	probe := fmt.Sprintf("chaos-probe-%d", time.Now().UnixNano())
	if err := c.eventually(ctx, "a namespace is created", func(ctx context.Context) error {
		return ignore(c.createNamespace(ctx, probe), apierrors.IsAlreadyExists)
	}); err != nil {
		return err
	}
	return c.eventually(ctx, "kube-controller-manager works", func(ctx context.Context) error {
		if _, err := c.client.Resource(serviceAccounts).Namespace(probe).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return err
		}
		if _, err := c.client.Resource(configMaps).Namespace(probe).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{}); err != nil {
			return err
		}
		return ignore(c.client.Resource(namespaces).Delete(ctx, probe, metav1.DeleteOptions{}), apierrors.IsConflict)
	})
}

// stated gives an object of client-go a history.
type stated struct{ *unstructured.Unstructured }

func (s stated) GetUID() string { return string(s.Unstructured.GetUID()) }
