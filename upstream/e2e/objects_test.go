package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/ptr"

	"orrery/upstream/controlplane"
)

// holdingFinalizer keeps an object until the test removes it.
const holdingFinalizer = "example.com/hold"

func (tr *trial) createConfigMap(namespace, name string, finalizers ...string) {
	tr.t.Helper()
	require.NoError(tr.t, tr.tryConfigMap(namespace, name, finalizers...))
}

// tryConfigMap is createConfigMap for goroutines other than the test's.
func (tr *trial) tryConfigMap(namespace, name string, finalizers ...string) error {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers}}
	_, err := tr.client.CoreV1().ConfigMaps(namespace).Create(tr.ctx, object, metav1.CreateOptions{})
	return err
}

func (tr *trial) createSecret(namespace, name string) {
	tr.t.Helper()
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := tr.client.CoreV1().Secrets(namespace).Create(tr.ctx, object, metav1.CreateOptions{})
	require.NoError(tr.t, err)
}

// createNetworkPolicy creates a policy that isolates all pods of the namespace.
func (tr *trial) createNetworkPolicy(namespace, name string) {
	tr.t.Helper()
	object := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := tr.client.NetworkingV1().NetworkPolicies(namespace).Create(tr.ctx, object, metav1.CreateOptions{})
	require.NoError(tr.t, err)
}

// runPod creates a pod and waits until it runs on the fake node. delay is how long the node takes
// to stop it, such as "3s"; grace is terminationGracePeriodSeconds.
func (tr *trial) runPod(namespace, name, delay string, grace int64, finalizers ...string) {
	tr.t.Helper()
	tr.createPod(namespace, newPod(name, delay, grace, finalizers))
}

// holdPod is runPod on a node played by the test, which decides when the pod ends.
func (tr *trial) holdPod(namespace, name string, grace int64, finalizers ...string) {
	tr.t.Helper()
	pod := newPod(name, "24h", grace, finalizers) // longer than any test
	pod.Spec.NodeName = "played-by-the-test"
	tr.createPod(namespace, pod)
}

func newPod(name, delay string, grace int64, finalizers []string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{controlplane.PodDeletionDelay: delay},
			Finalizers:  finalizers,
		},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: ptr.To(grace),
			Containers:                    []corev1.Container{{Name: "main", Image: "example.com/pretended"}},
		},
	}
}

// createPod waits until the pod runs. On a node played by the test, the test reports that.
func (tr *trial) createPod(namespace string, pod *corev1.Pod) {
	tr.t.Helper()
	pods := tr.client.CoreV1().Pods(namespace)
	_, err := pods.Create(tr.ctx, pod, metav1.CreateOptions{})
	require.NoError(tr.t, err)
	if pod.Spec.NodeName != "" {
		_, err := pods.Patch(tr.ctx, pod.Name, types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`),
			metav1.PatchOptions{}, "status")
		require.NoError(tr.t, err)
	}
	tr.eventually("pod "+pod.Name+" runs", func() (bool, error) {
		pod, err := pods.Get(tr.ctx, pod.Name, metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning, err
	})
}

// endPod deletes a terminating pod whose containers have ended, as its node does.
func (tr *trial) endPod(namespace, name string) {
	tr.t.Helper()
	err := tr.client.CoreV1().Pods(namespace).Delete(tr.ctx, name,
		metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
	require.NoError(tr.t, err)
}

// free removes the finalizers of an object.
func (tr *trial) free(resource schema.GroupVersionResource, namespace, name string) {
	tr.t.Helper()
	_, err := tr.dynamic.Resource(resource).Namespace(namespace).Patch(tr.ctx, name, types.MergePatchType,
		[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(tr.t, err)
}

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
	Resource: "customresourcedefinitions"}

// createCustomType defines a namespaced type with the version v1 and waits until objects of it can
// be created. The first of the older versions is the one that is stored.
func (tr *trial) createCustomType(group, plural, kind string, older ...string) schema.GroupVersionResource {
	tr.t.Helper()
	const version = `{"name": %q, "served": true, "storage": %t,
		"schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}`
	var served []string
	for i, name := range append(older, "v1") {
		served = append(served, fmt.Sprintf(version, name, i == 0))
	}
	definition := &unstructured.Unstructured{}
	require.NoError(tr.t, json.Unmarshal(fmt.Appendf(nil, `{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": {"name": "%[2]s.%[1]s"}, "spec": {"group": %[1]q, "scope": "Namespaced",
		"names": {"plural": %[2]q, "kind": %[3]q}, "versions": [%[4]s]}}`,
		group, plural, kind, strings.Join(served, ", ")), definition))
	_, err := tr.dynamic.Resource(crdResource).Create(tr.ctx, definition, metav1.CreateOptions{})
	require.NoError(tr.t, err)
	resource := schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural}
	tr.awaitCustomType(resource)
	return resource
}

func (tr *trial) awaitCustomType(resource schema.GroupVersionResource) {
	tr.t.Helper()
	tr.eventually(fmt.Sprintf("type %s is served and discovered", resource.Resource), func() (bool, error) {
		if _, err := tr.dynamic.Resource(resource).List(tr.ctx, metav1.ListOptions{}); err != nil {
			return false, err
		}
		// The subjects use aggregated discovery, which is updated separately from the group's.
		lists, err := tr.client.Discovery().ServerPreferredNamespacedResources()
		return slices.ContainsFunc(lists, func(list *metav1.APIResourceList) bool {
			return list.GroupVersion == resource.GroupVersion().String() &&
				slices.ContainsFunc(list.APIResources,
					func(r metav1.APIResource) bool { return r.Name == resource.Resource })
		}), err
	})
}

// createCustom creates an object of a custom type.
func (tr *trial) createCustom(resource schema.GroupVersionResource, kind, namespace, name string,
	finalizers ...string) {
	tr.t.Helper()
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(resource.GroupVersion().String())
	object.SetKind(kind)
	object.SetName(name)
	object.SetFinalizers(finalizers)
	tr.eventually(fmt.Sprintf("%s %s is created", kind, name), func() (bool, error) {
		_, err := tr.dynamic.Resource(resource).Namespace(namespace).Create(tr.ctx, object, metav1.CreateOptions{})
		if apierrors.IsNotFound(err) {
			return false, err // the type is new
		}
		require.NoError(tr.t, err)
		return true, nil
	})
}

var apiServices = schema.GroupVersionResource{
	Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices",
}

// createNowhereAPIService registers a group with a service that does not exist, and waits until its
// discovery fails.
func (tr *trial) createNowhereAPIService(group string) {
	tr.t.Helper()
	version := schema.GroupVersion{Group: group, Version: "v1"}
	tr.createAPIService(version, map[string]any{"namespace": "default", "name": "nowhere"})
	tr.awaitUndiscovered(version)
}

// createAPIService registers a group version with a service.
func (tr *trial) createAPIService(version schema.GroupVersion, service map[string]any) {
	tr.t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1",
		"kind":       "APIService",
		"metadata":   map[string]any{"name": version.Version + "." + version.Group},
		"spec": map[string]any{
			"group": version.Group, "version": version.Version,
			"groupPriorityMinimum": int64(1000), "versionPriority": int64(10),
			"insecureSkipTLSVerify": true, "service": service,
		},
	}}
	_, err := tr.dynamic.Resource(apiServices).Create(tr.ctx, object, metav1.CreateOptions{})
	require.NoError(tr.t, err)
}

// awaitUndiscovered blocks until discovery fails for a group version.
func (tr *trial) awaitUndiscovered(version schema.GroupVersion) {
	tr.t.Helper()
	tr.eventually("discovery fails for "+version.String(), func() (bool, error) {
		_, err := tr.client.Discovery().ServerPreferredNamespacedResources()
		if failed, ok := discovery.GroupDiscoveryFailedErrorGroups(err); ok {
			_, ok := failed[version]
			return ok, nil
		}
		return false, err
	})
}
