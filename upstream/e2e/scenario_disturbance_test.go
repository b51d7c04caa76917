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

// fillBehindBlocker creates a namespace with a few objects and an active blocker before its
// ConfigMaps.
func (tr *trial) fillBehindBlocker(namespace string) blocker {
	tr.t.Helper()
	tr.createFilledNamespace(namespace)
	g := tr.hinder.blockerBefore(tr, namespace, "object-00")
	g.Block()
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

// The controller is killed while it deletes. A new one finds the rest of the work by itself.
func TestControllerIsKilled(t *testing.T) {
	t.Parallel()
	tryEach(t, onOwnCluster, func(tr *trial) {
		blocker := tr.fillBehindBlocker("interrupted")
		tr.createNamespace("held")
		tr.createConfigMap("held", "held", holdingFinalizer)
		tr.deleteNamespace("held")
		tr.awaitCondition("held", corev1.NamespaceFinalizersRemaining)

		tr.deleteNamespace("interrupted")
		blocker.AwaitReached()
		tr.cluster.KillController()
		blocker.Release()
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

// The API server goes down during the work, once in order and once by a crash, with a request in
// flight.
func TestAPIServerIsRestarted(t *testing.T) {
	t.Parallel()
	tryEach(t, onOwnCluster, func(tr *trial) {
		tr.createNamespace("held")
		tr.createConfigMap("held", "held", holdingFinalizer)
		tr.deleteNamespace("held")
		tr.awaitCondition("held", corev1.NamespaceFinalizersRemaining)

		require.NoError(tr.t, tr.controlPlane().RestartAPIServer(tr.ctx))
		tr.awaitCondition("held", corev1.NamespaceFinalizersRemaining) // again, if a pass failed on the stopping server
		tr.noteNamespace("after a restart", "held")
		tr.createNamespace("after-restart")
		tr.deleteNamespace("after-restart")
		tr.awaitGone("after-restart")

		blocker := tr.fillBehindBlocker("interrupted")
		tr.deleteNamespace("interrupted")
		blocker.AwaitReached()
		tr.controlPlane().KillAPIServer()
		blocker.Release()
		require.NoError(tr.t, tr.controlPlane().StartAPIServer(tr.ctx))
		tr.free(configMaps, "held", "held")
		tr.awaitGone("interrupted")
		tr.awaitGone("held")
		tr.createNamespace("after-crash")
		tr.deleteNamespace("after-crash")
		tr.awaitGone("after-crash")
	})
}

// The API server has compacted the version from which a watch resumes, and answers 410. The subject
// lists again and misses nothing.
func TestHistoryIsForgotten(t *testing.T) {
	t.Parallel()
	tryEach(t, onOwnCluster, (*trial).forgetHistory)
}

// The same on a server that answers every request from etcd and refuses streaming lists.
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
	// The last write is not to a namespace, so that the subject's version is history.
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

// watchVerdict returns the server's first answer to a watch of namespaces from a version: the
// reason of its error or the type of the event.
func (tr *trial) watchVerdict(version string) string {
	tr.t.Helper()
	events, err := tr.client.CoreV1().Namespaces().Watch(tr.ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return string(apierrors.ReasonForError(err))
	}
	defer events.Stop()
	event, ok := <-events.ResultChan()
	require.True(tr.t, ok, "the server ended the watch without an event")
	if event.Type == watch.Error {
		return string(apierrors.ReasonForError(apierrors.FromObject(event.Object)))
	}
	return string(event.Type)
}
