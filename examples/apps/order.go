package apps

import (
	"cmp"
	"slices"
	"strconv"

	"orrery/restclient/api"
)

// deletionCost is the annotation with the cost of deleting a pod. Pods with a lower cost go first.
const deletionCost = "controller.kubernetes.io/pod-deletion-cost"

// podsToDelete chooses the surplus pods to delete.
func podsToDelete(pods []*Pod, count int) []*Pod {
	return slices.SortedFunc(slices.Values(pods), goesBefore)[:min(count, len(pods))]
}

// goesBefore compares two pods by the cost of deleting them, the cheaper first. The first
// difference decides.
//
// Upstream also prefers pods on crowded nodes and pods that were restarted often. It compares the
// logarithms of ages and breaks ties at random, so that not all remaining pods are the oldest ones.
func goesBefore(a, b *Pod) int {
	aSince, aReady := a.IsReady()
	bSince, bReady := b.IsReady()
	return cmp.Or(
		falseFirst(a.Spec.NodeName != "", b.Spec.NodeName != ""),          // not on a node yet
		cmp.Compare(phaseRank[a.Status.Phase], phaseRank[b.Status.Phase]), // not running yet
		falseFirst(aReady, bReady),                                        // not ready
		cmp.Compare(costOf(a), costOf(b)),                                 // with a lower deletion cost
		bSince.Compare(aSince),                                            // ready for a shorter time
		b.CreationTimestamp.Compare(a.CreationTimestamp.Time),             // newer
		cmp.Compare(a.Name, b.Name),                                       // so that the choice is deterministic
	)
}

var phaseRank = map[api.PodPhase]int{api.PodPending: 0, "": 0, api.PodUnknown: 1, api.PodRunning: 2}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

func costOf(pod *Pod) int {
	cost, err := strconv.Atoi(pod.Annotations[deletionCost])
	if err != nil {
		return 0
	}
	return cost
}
