package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"

	"orrery/internal/lab/bench"
)

// bystander is a namespace with the same content that is not deleted and must not change.
const bystander = "bench-bystander"

// atOnce is the number of concurrent administrator requests.
const atOnce = 16

// fill creates the content of a small application: the default service account, the CA bundle,
// configuration, secrets, and an identity with its rights. It leaves out pods and services, whose
// deletion involves other controllers.
func fill(ctx context.Context, client kubernetes.Interface, namespace string) error {
	core, rbac := client.CoreV1(), client.RbacV1()
	named := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Labels: map[string]string{"app.kubernetes.io/name": "web"}}
	}
	var options metav1.CreateOptions
	var errs []error
	note := func(err error) { errs = append(errs, err) }
	for _, name := range []string{"default", "web"} {
		_, err := core.ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: named(name)}, options)
		note(err)
	}
	for _, name := range []string{"kube-root-ca.crt", "web-settings", "web-templates", "web-feature-flags"} {
		data := map[string]string{"content": strings.Repeat(name+"\n", 1024/len(name))}
		_, err := core.ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: named(name), Data: data}, options)
		note(err)
	}
	for _, name := range []string{"web-database", "web-session-key", "web-registry"} {
		data := map[string][]byte{"password": []byte(strings.Repeat("x", 64))}
		_, err := core.Secrets(namespace).Create(ctx, &corev1.Secret{ObjectMeta: named(name), Data: data}, options)
		note(err)
	}
	_, err := rbac.Roles(namespace).Create(ctx, &rbacv1.Role{
		ObjectMeta: named("web"),
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}}},
	}, options)
	note(err)
	_, err = rbac.RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: named("web"),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "web"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "web", Namespace: namespace}},
	}, options)
	note(err)
	return errors.Join(errs...)
}

// create creates namespaces, filled or empty.
func (r *cluster) create(ctx context.Context, names []string, filled bool) error {
	return parallelize(names, func(name string) error {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := r.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if err != nil || !filled {
			return err
		}
		return fill(ctx, r.client, name)
	})
}

// deleteAndAwait deletes namespaces concurrently and returns when the last is gone.
func (r *cluster) deleteAndAwait(ctx context.Context, names []string) error {
	watch, err := r.client.CoreV1().Namespaces().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer watch.Stop()
	err = parallelize(names, func(name string) error {
		return r.client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
	})
	if err != nil {
		return err
	}
	left := map[string]bool{}
	for _, name := range names {
		left[name] = true
	}
	for len(left) > 0 {
		select {
		case event, ok := <-watch.ResultChan():
			if !ok {
				return errors.New("the watch of the namespaces has ended")
			}
			if namespace, ok := event.Object.(*corev1.Namespace); ok && event.Type == "DELETED" {
				delete(left, namespace.Name)
			}
		case <-ctx.Done():
			return fmt.Errorf("%d of %d namespaces are still there: %w", len(left), len(names), context.Cause(ctx))
		}
	}
	return nil
}

// parallelize calls do for each name, several at a time.
func parallelize(names []string, do func(name string) error) error {
	errs := make([]error, len(names))
	slots := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	for i, name := range names {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(name)
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// kinds are the types of what fill creates, and namespaces.
var kinds = []schema.GroupVersionResource{
	corev1.SchemeGroupVersion.WithResource("namespaces"),
	corev1.SchemeGroupVersion.WithResource("serviceaccounts"),
	corev1.SchemeGroupVersion.WithResource("configmaps"),
	corev1.SchemeGroupVersion.WithResource("secrets"),
	rbacv1.SchemeGroupVersion.WithResource("roles"),
	rbacv1.SchemeGroupVersion.WithResource("rolebindings"),
}

// inventory returns a line for each object of these types: type, namespace, name, UID and version.
func (r *cluster) inventory(ctx context.Context) (sets.Set[string], error) {
	lines := sets.New[string]()
	for _, kind := range kinds {
		list, err := r.heads.Resource(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			lines.Insert(fmt.Sprintln(kind.Resource, item.Namespace, item.Name, item.UID, item.ResourceVersion))
		}
	}
	return lines, nil
}

// proveUntouched returns a *[bench.ProofError] that lists the differences between two inventories.
func proveUntouched(before, after sets.Set[string]) error {
	changes := sets.List(before.SymmetricDifference(after))
	return bench.Prove("changes of what was not to be touched", "", strings.Join(changes, ""))
}
