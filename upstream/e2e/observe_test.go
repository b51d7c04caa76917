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

// awaitConditions waits until a pass of the subject over the namespace has been reported. The subjects write all
// conditions at once.
func (tr *trial) awaitConditions(name string) {
	tr.t.Helper()
	tr.awaitConditionThat(name, "is reported", func(c corev1.NamespaceCondition) bool {
		return c.Type == corev1.NamespaceContentRemaining
	})
}

// awaitCondition waits until a condition of a namespace is true.
func (tr *trial) awaitCondition(name string, wanted corev1.NamespaceConditionType) {
	tr.t.Helper()
	tr.awaitConditionThat(name, string(wanted)+" is true", func(c corev1.NamespaceCondition) bool {
		return c.Type == wanted && c.Status == corev1.ConditionTrue
	})
}

// awaitMessage waits until a condition of a namespace is true and says a certain thing.
func (tr *trial) awaitMessage(name string, wanted corev1.NamespaceConditionType, message string) {
	tr.t.Helper()
	tr.awaitConditionThat(name, string(wanted)+" says "+message, func(c corev1.NamespaceCondition) bool {
		return c.Type == wanted && c.Status == corev1.ConditionTrue && c.Message == message
	})
}

// awaitConditionThat waits for a report in which a condition is like that, and that is about this scenario alone: see disturbed.
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
		return slices.ContainsFunc(conditions, is) && !slices.ContainsFunc(conditions, undiscovered) && !slices.ContainsFunc(conditions, disturbed), nil
	})
}

// disturbed reports whether a condition is about another scenario. Scenarios on the same cluster define types and remove them.
// A pass that finds such a type in discovery, and finds it gone when its turn comes, has failed, and the next one has not. The
// longer a pass takes, on a busy machine and with one type after the other, the more of them meet one. No scenario has a type of
// its own that answers 404.
func disturbed(c corev1.NamespaceCondition) bool {
	return c.Type == corev1.NamespaceDeletionContentFailure && c.Status == corev1.ConditionTrue &&
		strings.Contains(c.Message, "the server could not find the requested resource")
}

// noteNamespace notes all that a namespace says of itself in a report that is not disturbed, and what it contains. when says
// at what point of the scenario.
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
		tr.state.note(when+": "+string(condition.Type), fmt.Sprintf("%s %s: %s", condition.Status, condition.Reason, condition.Message))
	}
	tr.state.note(when+": order of the conditions", strings.Join(types, ", "))
	tr.noteContent(when, name)
}

// noteContent notes the names of what a namespace contains, a fact for each type. Events are left out: they tell what
// other components noticed, and when.
func (tr *trial) noteContent(when, name string) {
	tr.t.Helper()
	for resource, names := range tr.content(name) {
		if resource != "events" {
			tr.state.note(when+": "+resource, strings.Join(names, ", "))
		}
	}
}

// content returns the names of everything in a namespace, whether that exists or not, by resource ("pods",
// "deployments.apps").
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

// list reads all objects of a type, in one namespace or in all. A type that has gone in the meantime has none.
func (tr *trial) list(resource schema.GroupVersionResource, namespace string) []unstructured.Unstructured {
	tr.t.Helper()
	var items []unstructured.Unstructured
	tr.eventually(fmt.Sprintf("%s can be listed", resource.Resource), func() (bool, error) {
		list, err := tr.dynamic.Resource(resource).Namespace(namespace).List(tr.ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err != nil {
			return false, err // such as a custom type that is just being defined
		}
		items = list.Items
		return true, nil
	})
	return items
}

// namespacedResources finds all types that can be listed, by client-go's own discovery. Groups that cannot be reached
// are left out.
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
			// Events are served under two groups from one store.
			if slices.Contains(resource.Verbs, "list") && gv.Group != "events.k8s.io" {
				resources = append(resources, gv.WithResource(resource.Name))
			}
		}
	}
	return resources
}

// A report that names a type of another scenario is waited out; one of a failure that a scenario is about is not.
func TestDisturbedReports(t *testing.T) {
	failure := func(message string) corev1.NamespaceCondition {
		return corev1.NamespaceCondition{Type: corev1.NamespaceDeletionContentFailure, Status: corev1.ConditionTrue, Message: message}
	}
	const removed = "the server could not find the requested resource"
	assert.True(t, disturbed(failure("Failed to delete all resource types, 1 remaining: "+removed)))
	assert.True(t, disturbed(failure("Failed to delete all resource types, 2 remaining: configmaps is forbidden, "+removed)))
	assert.False(t, disturbed(failure("Failed to delete all resource types, 1 remaining: configmaps is forbidden")))
	ended := failure(removed)
	ended.Status = corev1.ConditionFalse
	assert.False(t, disturbed(ended))
}
