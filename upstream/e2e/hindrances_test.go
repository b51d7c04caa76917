package e2e

import (
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/upstream/apiserver/served"
)

// hindrances are ways to get into a controller's way. Each platform has means of its own for them; what the controller
// runs into is the same. Where a hindrance can be taken back, the function returned does that.
type hindrances interface {
	// forbidDeletion has the server deny the deletion of one object, which exists.
	forbidDeletion(tr *trial, resource schema.GroupVersionResource, namespace, name string) (lift func())
	// askNobody has the server ask a webhook that does not exist before it deletes objects of a type in one namespace.
	askNobody(tr *trial, resource schema.GroupVersionResource, namespace string) (lift func())
	// withholdRights takes all rights for one type away from the controller.
	withholdRights(tr *trial, withheld schema.GroupResource) (grant func())
	// gateBefore puts a gate, open, before the ConfigMaps of a namespace. The ConfigMap "probe" must be there.
	gateBefore(tr *trial, namespace, probe string) gate
	// forgetHistory has the server forget all history and breaks off all watches.
	forgetHistory(tr *trial)
}

// gate lets every deletion pass, and while it is shut holds them up. So a test can stop a subject in the middle of its
// work without having to guess when that is.
type gate interface {
	// Shut has deletions wait from now on.
	Shut()
	// Open lets all deletions pass, those that wait and those that come.
	Open()
	// AwaitReached waits until a deletion is held up that came since the gate was shut.
	AwaitReached()
}

func hindrancesOf(tr *trial) hindrances {
	if server, ok := tr.cluster.Server.(*served.Server); ok {
		return faultHindrances{server}
	}
	return genuineHindrances{}
}

// genuineHindrances are policies, webhooks and roles, and the fate of kube-apiserver's process. They are in files of
// their own.
type genuineHindrances struct{}

func (genuineHindrances) forgetHistory(tr *trial) {
	tr.t.Helper()
	require.NoError(tr.t, tr.controlPlane().ForgetHistory(tr.ctx))
}
