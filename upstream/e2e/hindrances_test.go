package e2e

import (
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/upstream/apiserver/served"
)

// hindrances puts obstacles in a controller's way. Each platform does so by its own means, with the
// same effect. The returned functions remove the obstacle.
type hindrances interface {
	// forbidDeletion makes the server deny the deletion of one existing object.
	forbidDeletion(tr *trial, resource schema.GroupVersionResource, namespace, name string) (lift func())
	// unreachableWebhook makes the server ask a webhook that does not exist before it deletes
	// objects of a type in one namespace.
	unreachableWebhook(tr *trial, resource schema.GroupVersionResource, namespace string) (lift func())
	// withholdRights takes all rights on one type from the controller.
	withholdRights(tr *trial, withheld schema.GroupResource) (grant func())
	// blockerBefore puts a released blocker before the ConfigMaps of a namespace. The ConfigMap
	// "probe" must exist.
	blockerBefore(tr *trial, namespace, probe string) blocker
	// forgetHistory makes the server forget all history and end all watches.
	forgetHistory(tr *trial)
}

// blocker holds up deletions while it is active, so that a test can stop a subject in the middle of
// its work.
type blocker interface {
	// Block holds up deletions from now on.
	Block()
	// Release lets the waiting deletions and all later ones pass.
	Release()
	// AwaitReached blocks until a deletion is held up that arrived since the last Block.
	AwaitReached()
}

func hindrancesOf(tr *trial) hindrances {
	if server, ok := tr.cluster.Server.(*served.Server); ok {
		return faultHindrances{server}
	}
	return genuineHindrances{}
}

// genuineHindrances uses policies, webhooks, roles and kube-apiserver's process, in files of their
// own.
type genuineHindrances struct{}

func (genuineHindrances) forgetHistory(tr *trial) {
	tr.t.Helper()
	require.NoError(tr.t, tr.controlPlane().ForgetHistory(tr.ctx))
}
