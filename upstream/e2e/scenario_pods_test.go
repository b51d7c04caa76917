package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

var networkPolicies = networkingv1.SchemeGroupVersion.WithResource("networkpolicies")

// createPodNamespace creates a namespace with an object that must outlive its pods.
func (tr *trial) createPodNamespace(name string) {
	tr.t.Helper()
	tr.createNamespace(name)
	tr.createNetworkPolicy(name, "isolation")
	tr.createConfigMap(name, "configuration")
}

// While a pod terminates, everything that it may rely on stays.
func TestPodsGoFirst(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		tr.createPodNamespace("pods-first")
		// The original measures a pod's grace period by the age of the namespace's deletion. It
		// must not expire before the first pass on any machine. The original comes back after half
		// of that time, so the test wakes it.
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

// Pods with different termination times, stopped by their node.
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

// A pod outlives its grace period for no visible reason.
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

// A finalizer keeps a pod whose containers have ended.
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

// Pods cannot be deleted, so what they rely on must stay.
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
