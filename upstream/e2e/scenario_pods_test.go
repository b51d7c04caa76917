package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

var networkPolicies = networkingv1.SchemeGroupVersion.WithResource("networkpolicies")

// createPodNamespace creates a namespace with something that must outlive its pods.
func (tr *trial) createPodNamespace(name string) {
	tr.t.Helper()
	tr.createNamespace(name)
	tr.createNetworkPolicy(name, "isolation")
	tr.createConfigMap(name, "configuration")
}

// While a pod takes its time to end, everything that it may rely on stays.
func TestPodsGoFirst(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		tr.createPodNamespace("pods-first")
		// The original calls a pod's time up by the age of the namespace's deletion. That must not be reached before its
		// first pass, on no machine; and because it then comes back after half of that time, it is woken.
		tr.holdPod("pods-first", "slow", 3600)
		left := tr.watchDepartures("pods-first", pods, networkPolicies, configMaps)

		tr.deleteNamespace("pods-first")
		tr.awaitConditions("pods-first")
		tr.noteNamespace("while a pod ends", "pods-first")
		tr.endPod("pods-first", "slow")
		tr.wake("pods-first")
		tr.awaitGone("pods-first")
		tr.noteOrder(left, "pods/slow", "networkpolicies/isolation")
		tr.noteOrder(left, "pods/slow", "configmaps/configuration")
	})
}

// Pods of which each needs another time, ended by their node and not by the test.
func TestPodsEndByThemselves(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		tr.createPodNamespace("pods-end")
		tr.runPod("pods-end", "quick", "0s", 30)
		tr.runPod("pods-end", "slower", "7s", 30)
		left := tr.watchDepartures("pods-end", pods, networkPolicies, configMaps)

		tr.deleteNamespace("pods-end")
		tr.awaitGone("pods-end")
		for _, pod := range []string{"pods/quick", "pods/slower"} {
			tr.noteOrder(left, pod, "networkpolicies/isolation")
			tr.noteOrder(left, pod, "configmaps/configuration")
		}
	})
}

// A pod that is still there when its grace period is over, for no reason that its object shows.
func TestPodIsLate(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		tr.createPodNamespace("pods-late")
		tr.holdPod("pods-late", "late", 1)
		left := tr.watchDepartures("pods-late", pods, networkPolicies)

		tr.deleteNamespace("pods-late")
		tr.awaitConditions("pods-late")
		tr.noteNamespace("while a pod is late", "pods-late")
		tr.endPod("pods-late", "late")
		tr.awaitGone("pods-late")
		tr.noteOrder(left, "pods/late", "networkpolicies/isolation")
	})
}

// A pod that a finalizer keeps after its containers have ended.
func TestPodWithFinalizer(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		tr.createPodNamespace("pods-held")
		tr.holdPod("pods-held", "held", 1, holdingFinalizer)
		left := tr.watchDepartures("pods-held", pods, networkPolicies)

		tr.deleteNamespace("pods-held")
		tr.awaitConditions("pods-held")
		tr.noteNamespace("while a pod is held", "pods-held")
		tr.endPod("pods-held", "held")
		tr.free(pods, "pods-held", "held")
		tr.awaitGone("pods-held")
		tr.noteOrder(left, "pods/held", "networkpolicies/isolation")
	})
}

// Pods cannot be deleted: what they rely on must not be either.
func TestPodDeletionIsDenied(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		tr.createPodNamespace("pods-denied")
		tr.runPod("pods-denied", "protected", "0s", 30)
		allow := tr.hinder.forbidDeletion(tr, pods, "pods-denied", "protected")
		left := tr.watchDepartures("pods-denied", pods, networkPolicies)

		tr.deleteNamespace("pods-denied")
		tr.awaitCondition("pods-denied", corev1.NamespaceDeletionContentFailure)
		tr.noteNamespace("while it is denied", "pods-denied")
		allow()
		tr.awaitGone("pods-denied")
		tr.noteOrder(left, "pods/protected", "networkpolicies/isolation")
	})
}
