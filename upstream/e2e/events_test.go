package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"orrery/upstream/controlplane"
)

// eventsAbout returns the Events about a Namespace in the namespace default.
func (tr *trial) eventsAbout(namespace string) []corev1.Event {
	tr.t.Helper()
	return tr.eventsIn("default", "involvedObject.kind=Namespace,involvedObject.name="+namespace)
}

// eventsIn returns the Events in a namespace that a field selector selects.
func (tr *trial) eventsIn(namespace, selector string) []corev1.Event {
	tr.t.Helper()
	list, err := tr.client.CoreV1().Events(namespace).List(tr.ctx, metav1.ListOptions{FieldSelector: selector})
	require.NoError(tr.t, err)
	return list.Items
}

// awaitEvent blocks until there is an Event about a Namespace with the reason.
func (tr *trial) awaitEvent(namespace, reason string) corev1.Event {
	tr.t.Helper()
	var found corev1.Event
	tr.eventually("there is an Event "+reason+" about "+namespace, func() (bool, error) {
		for _, event := range tr.eventsAbout(namespace) {
			if event.Reason == reason {
				found = event
				return true, nil
			}
		}
		return false, nil
	})
	return found
}

// kubectl shows how a deletion ended, if orrery runs as a user who may write Events.
func TestEventsReportHowDeletionsEnd(t *testing.T) {
	t.Parallel()
	tr := onControlPlane(t, controlplane.Config{})
	orrery := runOrrery(t, tr.cluster.Kubeconfig(), "--allow-second-controller", "-v2", "--log-format=json")
	orrery.AwaitOutput("store is filled")

	uid := tr.createNamespace("blue")
	tr.deleteNamespace("blue")
	tr.awaitGone("blue")
	event := tr.awaitEvent("blue", "NamespaceDeleted")
	assert.Equal(t, corev1.EventTypeNormal, event.Type)
	assert.Equal(t, []any{"namespace-controller", "namespace-controller", int32(1), "Namespace", "v1", uid},
		[]any{event.Source.Component, event.ReportingController, event.Count, event.InvolvedObject.Kind,
			event.InvolvedObject.APIVersion, event.InvolvedObject.UID})
	assert.Regexp(t, `^Emptied and finalized within \d+\.\ds, in \d+ pass`, event.Message)

	// A namespace that hangs gets one Event with the reason, however often it is processed.
	tr.createNamespace("stuck")
	tr.createConfigMap("stuck", "held", "example.com/hold")
	tr.deleteNamespace("stuck")
	blocked := tr.awaitEvent("stuck", "NamespaceDeletionBlocked")
	assert.Equal(t, corev1.EventTypeWarning, blocked.Type)
	assert.Contains(t, blocked.Message, "example.com/hold in 1 resource instances")
	table := tr.kubectl("get events -n default")
	assert.Regexp(t,
		`Warning +NamespaceDeletionBlocked +namespace/stuck +Some resources are remaining: configmaps\. has 1 resource instances; Some content in the namespace has finalizers remaining`, table)
	assert.Regexp(t, `Normal +NamespaceDeleted +namespace/blue +Emptied and finalized within`, table)
	assert.Regexp(t, `Warning +NamespaceDeletionBlocked +Namespace/stuck `,
		tr.kubectl("events -n default --for namespace/stuck"))

	tr.free(configMaps, "stuck", "held")
	tr.awaitGone("stuck")
	tr.awaitEvent("stuck", "NamespaceDeleted")
	assert.Len(t, tr.eventsAbout("stuck"), 2)

	// The requests for an Event carry the id of the pass that it reports.
	ids := regexp.MustCompile(`"reconcile_id":"([a-z2-7]+-\d+)"`)
	finalized := regexp.MustCompile(`.*"namespace":"blue".*"message":"namespace finalized".*`).
		FindString(orrery.Output())
	posted := regexp.MustCompile(`.*"method":"POST","path":"/api/v1/namespaces/default/events".*`).
		FindAllString(orrery.Output(), -1)
	id := ids.FindString(finalized)
	require.NotEmpty(t, id, finalized)
	assert.Contains(t, ids.FindAllString(strings.Join(posted, "\n"), -1), id)
	orrery.Interrupt()
	require.Equal(t, exitInterrupted, orrery.AwaitExit())
}
