package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"orrery/upstream/controlplane"
)

// fillBehindGate creates a namespace with a few objects and a shut gate before its ConfigMaps.
func (tr *trial) fillBehindGate(namespace string) gate {
	tr.t.Helper()
	tr.createFilledNamespace(namespace)
	g := tr.hinder.gateBefore(tr, namespace, "object-00")
	g.Shut()
	return g
}

// createFilledNamespace creates a namespace with a few objects.
func (tr *trial) createFilledNamespace(namespace string) {
	tr.t.Helper()
	tr.createNamespace(namespace)
	for i := range 20 {
		tr.createConfigMap(namespace, fmt.Sprintf("object-%02d", i))
		tr.createSecret(namespace, fmt.Sprintf("object-%02d", i))
	}
}

// The controller is killed while it deletes. A new one finds out by itself what there is left to do.
func TestControllerIsKilled(t *testing.T) {
	t.Parallel()
	tryEach(t, onOwnCluster, func(tr *trial) {
		gate := tr.fillBehindGate("interrupted")
		tr.createNamespace("held")
		tr.createConfigMap("held", "held", holdingFinalizer)
		tr.deleteNamespace("held")
		tr.awaitCondition("held", corev1.NamespaceFinalizersRemaining)

		tr.deleteNamespace("interrupted")
		gate.AwaitReached()
		tr.cluster.KillController()
		gate.Open()
		require.Contains(tr.t, tr.namespace("interrupted").Spec.Finalizers, corev1.FinalizerKubernetes)
		tr.createNamespace("meanwhile")
		tr.deleteNamespace("meanwhile")
		tr.free(configMaps, "held", "held")

		require.NoError(tr.t, tr.cluster.StartController(talkative(tr.cluster.subject)...))
		for _, name := range []string{"interrupted", "held", "meanwhile"} {
			tr.awaitGone(name)
		}
	})
}

// The API server goes down in the middle, once in the orderly way and once as in a crash, with a request in flight.
func TestAPIServerIsRestarted(t *testing.T) {
	t.Parallel()
	tryEach(t, onOwnCluster, func(tr *trial) {
		tr.createNamespace("held")
		tr.createConfigMap("held", "held", holdingFinalizer)
		tr.deleteNamespace("held")
		tr.awaitCondition("held", corev1.NamespaceFinalizersRemaining)

		require.NoError(tr.t, tr.controlPlane().RestartAPIServer(tr.ctx))
		tr.awaitCondition("held", corev1.NamespaceFinalizersRemaining) // again, if a pass has met the server while it went
		tr.noteNamespace("after a restart", "held")
		tr.createNamespace("after-restart")
		tr.deleteNamespace("after-restart")
		tr.awaitGone("after-restart")

		gate := tr.fillBehindGate("interrupted")
		tr.deleteNamespace("interrupted")
		gate.AwaitReached()
		tr.controlPlane().KillAPIServer()
		gate.Open()
		require.NoError(tr.t, tr.controlPlane().StartAPIServer(tr.ctx))
		tr.free(configMaps, "held", "held")
		tr.awaitGone("interrupted")
		tr.awaitGone("held")
		tr.createNamespace("after-crash")
		tr.deleteNamespace("after-crash")
		tr.awaitGone("after-crash")
	})
}

// The API server has forgotten the version from which a watch is resumed, and says so with status 410. The subject
// lists again, and misses nothing.
func TestHistoryIsForgotten(t *testing.T) {
	t.Parallel()
	tryEach(t, onOwnCluster, (*trial).forgetHistory)
}

// The same on a server that answers every request from etcd, and refuses to stream lists.
func TestHistoryIsForgottenWithoutWatchCache(t *testing.T) {
	t.Parallel()
	tryEach(t, onClusterWith(controlplane.Config{DisableWatchCache: true}), (*trial).forgetHistory)
}

func (tr *trial) forgetHistory() {
	tr.createNamespace("before")
	tr.deleteNamespace("before")
	tr.awaitGone("before") // the subject's watch is running
	tr.createNamespace("known")
	version := tr.namespace("known").ResourceVersion
	// Something else than a namespace is written last, so that what the subject has seen is history.
	tr.createConfigMap("known", "content")

	forgotten := time.Now()
	tr.hinder.forgetHistory(tr)
	require.Equal(tr.t, string(metav1.StatusReasonExpired), tr.watchVerdict(version))
	tr.eventually("the subject has read all namespaces again", func() (bool, error) {
		return slices.ContainsFunc(auditedAfter(tr.t, tr.cluster.Server, forgotten), func(r request) bool {
			// A watch in memory has no code until it ends.
			return r.initialList() && (r.ResponseStatus.Code == 200 || r.ResponseStatus.Code == 0)
		}), nil
	})
	tr.deleteNamespace("known")
	tr.createNamespace("new")
	tr.deleteNamespace("new")
	tr.awaitGone("known")
	tr.awaitGone("new")
}

// watchVerdict is what the server has to say to a watch of namespaces that begins at a version: the reason of its error
// or the type of the first event.
func (tr *trial) watchVerdict(version string) string {
	tr.t.Helper()
	events, err := tr.client.CoreV1().Namespaces().Watch(tr.ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return string(apierrors.ReasonForError(err))
	}
	defer events.Stop()
	event, ok := <-events.ResultChan()
	require.True(tr.t, ok, "the server ended the watch without a word")
	if event.Type == watch.Error {
		return string(apierrors.ReasonForError(apierrors.FromObject(event.Object)))
	}
	return string(event.Type)
}
