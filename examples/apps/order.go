package apps

import (
	"cmp"
	"slices"
	"strconv"

	"orrery/restclient/api"
)

// deletionCost is the annotation with the cost of deleting a pod. Pods with a lower cost go first.
const deletionCost = "controller.kubernetes.io/pod-deletion-cost"

// podsToDelete chooses the surplus pods to delete. related is the number of pods of the same owner
// on each node.
func podsToDelete(pods []*Pod, related map[string]int, count int) []*Pod {
	if count >= len(pods) {
		return pods
	}
	sorted := slices.SortedFunc(slices.Values(pods), func(a, b *Pod) int { return goesBefore(a, b, related) })
	return sorted[:count]
}

// goesBefore compares two pods by the cost of deleting them, the cheaper first. The first
// difference decides.
//
// Ages are compared as they are. Upstream compares their logarithms and breaks ties at random, so
// that not all remaining pods are the oldest ones.
func goesBefore(a, b *Pod, related map[string]int) int {
	aSince, aReady := a.IsReady()
	bSince, bReady := b.IsReady()
	return cmp.Or(
		falseFirst(a.Spec.NodeName != "", b.Spec.NodeName != ""),          // not on a node yet
		cmp.Compare(phaseRank[a.Status.Phase], phaseRank[b.Status.Phase]), // not running yet
		falseFirst(aReady, bReady),                                        // not ready
		cmp.Compare(costOf(a), costOf(b)),                                 // with a lower deletion cost
		cmp.Compare(related[b.Spec.NodeName], related[a.Spec.NodeName]),   // on a node with more of them
		bSince.Compare(aSince),                                            // ready for a shorter time
		cmp.Compare(restarts(b), restarts(a)),                             // restarted more often
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

// restarts returns the highest restart count of the pod's containers.
func restarts(pod *Pod) (most int) {
	for _, container := range pod.Status.ContainerStatuses {
		most = max(most, container.RestartCount)
	}
	return most
}
