// Package kubelet plays the nodes of a cluster that has none: it gives pods a node, says that they run, and ends them.
//
// # Concept
//
// In a cluster a pod does not go when it is deleted. The API server writes metadata.deletionTimestamp, which is the moment
// by which the pod shall have ended, and waits. The kubelet of the pod's node sees that, sends the containers a TERM signal,
// gives them until that moment, and then deletes the pod once more with a grace period of zero. Only that removes it. This
// is why the namespace controller deletes pods before anything else and comes back after half a minute, and why a
// namespace hangs in Terminating when a node is lost.
//
// [Kubelet] does that for as many nodes as it is told to play, with containers that exist on paper only. It is a
// controller like all others: it watches pods, puts their keys into a work queue, and its worker looks at one at a time:
//
//	no node yet                   a node is chosen, in turn (what the scheduler does)
//	on one of our nodes, pending  status: Running, Ready, an address, since when
//	being deleted                 comes back when the grace period is over, or sooner (see [StopsAfter])
//	the time is over              deleted with a grace period of 0
//	its node is lost              nothing, until the node is found again
//
// Two small duties of controllers that a cluster without them would miss come along: a node that is ready loses the taint of new
// nodes, and a claim that is being deleted goes when no pod uses it any more.
//
// # Guarantees
//
//   - A pod that is being deleted stays until its deletionTimestamp, unless it says by [StopsAfter] that its containers stop
//     sooner. A shorter grace period that is set later counts.
//   - It is the pod with the UID that was looked at that is ended, never a new one of the same name.
//   - Pods that are bound to nodes of somebody else are left alone.
//   - Nodes are renewed by a Lease each, like those of real kubelets.
//
// # Goroutines
//
// [Kubelet.Run] is one goroutine, the caller's, with one more for the worker, which has ended when Run returns.
//
// # Failure
//
// A write that is refused (a conflict, a webhook, a fault) is repeated with the work queue's growing delays. A watch whose
// position has expired begins anew with the current state.
//
// # Testing
//
// kubelet_test.go runs it over a registry in a synctest bubble, so that half a minute of grace takes no time.
//
// Next: package apiserver
package kubelet
