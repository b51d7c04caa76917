package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// namespace reads a namespace.
func (tr *trial) namespace(name string) *corev1.Namespace {
	tr.t.Helper()
	namespace, err := tr.client.CoreV1().Namespaces().Get(tr.ctx, name, metav1.GetOptions{})
	require.NoError(tr.t, err)
	return namespace
}

// awaitConditions blocks until the subject has reported a pass over the namespace. The subjects
// write all conditions at once.
func (tr *trial) awaitConditions(name string) {
	tr.t.Helper()
	tr.awaitConditionThat(name, "is reported", func(c corev1.NamespaceCondition) bool {
		return c.Type == corev1.NamespaceContentRemaining
	})
}

// awaitCondition blocks until a condition of a namespace is true.
func (tr *trial) awaitCondition(name string, wanted corev1.NamespaceConditionType) {
	tr.t.Helper()
	tr.awaitConditionThat(name, string(wanted)+" is true", func(c corev1.NamespaceCondition) bool {
		return c.Type == wanted && c.Status == corev1.ConditionTrue
	})
}

// awaitMessage blocks until a condition of a namespace is true with the message.
func (tr *trial) awaitMessage(name string, wanted corev1.NamespaceConditionType, message string) {
	tr.t.Helper()
	tr.awaitConditionThat(name, string(wanted)+" says "+message, func(c corev1.NamespaceCondition) bool {
		return c.Type == wanted && c.Status == corev1.ConditionTrue && c.Message == message
	})
}

// awaitConditionThat blocks until a report that is about this scenario alone (see disturbed)
// satisfies is.
func (tr *trial) awaitConditionThat(name, what string, is func(corev1.NamespaceCondition) bool) {
	tr.t.Helper()
	undiscovered := func(c corev1.NamespaceCondition) bool {
		return c.Type == corev1.NamespaceDeletionDiscoveryFailure && c.Status == corev1.ConditionTrue && !is(c)
	}
	tr.eventually(fmt.Sprintf("a condition of namespace %s %s", name, what), func() (bool, error) {
		namespace, err := tr.client.CoreV1().Namespaces().Get(tr.ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		conditions := namespace.Status.Conditions
		return slices.ContainsFunc(conditions, is) && !slices.ContainsFunc(conditions, undiscovered) &&
			!slices.ContainsFunc(conditions, disturbed), nil
	})
}

// disturbed reports whether a condition is about another scenario. Scenarios on the same cluster
// define and remove types, and a pass fails if it discovers a type that is gone when its turn
// comes. No scenario has a type of its own that answers 404.
func disturbed(c corev1.NamespaceCondition) bool {
	return c.Type == corev1.NamespaceDeletionContentFailure && c.Status == corev1.ConditionTrue &&
		strings.Contains(c.Message, "the server could not find the requested resource")
}

// noteNamespace records an undisturbed report and the namespace's content. when names the point of
// the scenario.
func (tr *trial) noteNamespace(when, name string) {
	tr.t.Helper()
	var namespace *corev1.Namespace
	tr.eventually("namespace "+name+" has a report about itself", func() (bool, error) {
		namespace = tr.namespace(name)
		return !slices.ContainsFunc(namespace.Status.Conditions, disturbed), nil
	})
	tr.state.note(when+": phase", string(namespace.Status.Phase))
	tr.state.note(when+": spec.finalizers", fmt.Sprint(namespace.Spec.Finalizers))
	var types []string
	for _, condition := range namespace.Status.Conditions {
		types = append(types, string(condition.Type))
		tr.state.note(when+": "+string(condition.Type),
			fmt.Sprintf("%s %s: %s", condition.Status, condition.Reason, condition.Message))
	}
	tr.state.note(when+": order of the conditions", strings.Join(types, ", "))
	tr.noteContent(when, name)
}

// noteContent records the names of a namespace's content, one fact for each type. Events are left
// out: they depend on the timing of other components.
func (tr *trial) noteContent(when, name string) {
	tr.t.Helper()
	for resource, names := range tr.content(name) {
		if resource != "events" {
			tr.state.note(when+": "+resource, strings.Join(names, ", "))
		}
	}
}

// content returns the names of all objects of a namespace, which need not exist, by resource
// ("pods", "deployments.apps").
func (tr *trial) content(namespace string) map[string][]string {
	tr.t.Helper()
	content := map[string][]string{}
	for _, resource := range tr.namespacedResources() {
		group := resource.GroupResource().String()
		for _, item := range tr.list(resource, namespace) {
			content[group] = append(content[group], item.GetName())
		}
	}
	for _, names := range content {
		slices.Sort(names)
	}
	return content
}

// list returns all objects of a type, in one namespace or in all. A type that is gone has none.
func (tr *trial) list(resource schema.GroupVersionResource, namespace string) []unstructured.Unstructured {
	tr.t.Helper()
	var items []unstructured.Unstructured
	tr.eventually(fmt.Sprintf("%s can be listed", resource.Resource), func() (bool, error) {
		list, err := tr.dynamic.Resource(resource).Namespace(namespace).List(tr.ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err != nil {
			return false, err // such as a custom type that is new
		}
		items = list.Items
		return true, nil
	})
	return items
}

// namespacedResources returns every type that can be listed, by client-go's discovery. It leaves
// out unreachable groups.
func (tr *trial) namespacedResources() []schema.GroupVersionResource {
	tr.t.Helper()
	lists, err := tr.client.Discovery().ServerPreferredNamespacedResources()
	if !discovery.IsGroupDiscoveryFailedError(err) {
		require.NoError(tr.t, err)
	}
	var resources []schema.GroupVersionResource
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		require.NoError(tr.t, err)
		for _, resource := range list.APIResources {
			// One store serves Events under two groups.
			if slices.Contains(resource.Verbs, "list") && gv.Group != "events.k8s.io" {
				resources = append(resources, gv.WithResource(resource.Name))
			}
		}
	}
	return resources
}

// A report about another scenario's type is waited out; one about this scenario's failure is not.
func TestDisturbedReports(t *testing.T) {
	failure := func(message string) corev1.NamespaceCondition {
		return corev1.NamespaceCondition{Type: corev1.NamespaceDeletionContentFailure, Status: corev1.ConditionTrue,
			Message: message}
	}
	const removed = "the server could not find the requested resource"
	assert.True(t, disturbed(failure("Failed to delete all resource types, 1 remaining: "+removed)))
	assert.True(t,
		disturbed(failure("Failed to delete all resource types, 2 remaining: configmaps is forbidden, "+removed)))
	assert.False(t, disturbed(failure("Failed to delete all resource types, 1 remaining: configmaps is forbidden")))
	ended := failure(removed)
	ended.Status = corev1.ConditionFalse
	assert.False(t, disturbed(ended))
}
