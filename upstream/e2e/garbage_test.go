package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

const garbageCollector = "garbage-collector-controller"

// TestOfficialGarbageSpecs runs Kubernetes' own specs for the garbage collector against the
// example's, on a genuine control plane with every controller but that one.
func TestOfficialGarbageSpecs(t *testing.T) {
	t.Parallel()
	server, err := controlplane.Start(t.Context(), controlplane.Config{
		FakeNodes:           2,
		NamespaceController: true,
		Controllers:         []string{"*", "-" + garbageCollector},
		Log:                 t.Output(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	// The cluster does not show whether kube-controller-manager's own collector is off.
	runControllers(t, server, "collector", garbageCollector, "--allow-second-controller")
	passOfficialSpecs(t, server.Kubeconfig(), "--of=garbage")
}
