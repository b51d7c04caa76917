package e2e

import (
	"context"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

// TestOfficialWorkloadSpecs runs Kubernetes' own specs for ReplicaSets and Deployments against the
// two example controllers, on a genuine control plane whose kube-controller-manager runs neither.
func TestOfficialWorkloadSpecs(t *testing.T) {
	t.Parallel()
	server, err := controlplane.Start(t.Context(), controlplane.Config{
		FakeNodes:           2,
		NamespaceController: true,
		Controllers:         append(controlplane.DefaultControllers(), "resourcequota-controller"),
		Log:                 t.Output(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	runWorkloads(t, server)
	passOfficialSpecs(t, server.Kubeconfig(), "--of=workloads")
}

// runWorkloads runs the two controllers until the test ends.
func runWorkloads(t *testing.T, server *controlplane.ControlPlane) {
	runControllers(t, server, "workloads", "replicaset-controller,deployment-controller")
}

// runControllers runs "orrery run" with these controllers until the test ends, as a user with only
// the rights that "orrery rbac" grants.
func runControllers(t *testing.T, server *controlplane.ControlPlane, user, names string, args ...string) {
	t.Helper()
	controllers := "--controllers=" + names
	orrery := repositoryFile(t, Orrery().Binary)
	rights, err := exec.CommandContext(t.Context(), orrery, "rbac", controllers, "--leader-elect=false",
		"--user="+user).Output()
	require.NoError(t, err)
	kubectl(t, server.Kubeconfig(), "apply -f -\n"+string(rights))
	kubeconfig, err := server.KubeconfigFor(user)
	require.NoError(t, err)
	subject := Orrery()
	subject.Name = user
	process, err := subject.start(kubeconfig, server.LogFile(user), append(args, controllers)...)
	require.NoError(t, err)
	t.Cleanup(func() {
		process.Stop(context.Background())
		assert.NoError(t, process.Err())
		if t.Failed() {
			t.Logf("the end of the log of the controllers:\n%s", process.Tail())
		}
	})
}
