package e2e

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/upstream/apiserver/served"
	"orrery/upstream/controlplane"
)

// TestOfficialSpecs runs Kubernetes' own specs for namespaces against orrery; with wholeMatrix also
// against the original, whose success proves the setup.
func TestOfficialSpecs(t *testing.T) {
	for _, subject := range subjectsNow() {
		t.Run(subject.Name, func(t *testing.T) {
			t.Parallel()
			cluster := onOwnCluster(controlplane.Config{FakeNodes: 1})(t, subject)
			passOfficialSpecs(t, cluster.Kubeconfig())
			if t.Failed() {
				t.Logf("the end of the log of %s:\n%s", subject.Name, cluster.Controller().Tail())
			}
		})
	}
}

// passOfficialSpecs runs Kubernetes' own specs for namespaces, unmodified, against a cluster with a
// node (see command conformance). All of them must run and pass. The arguments go to the command:
// --of=workloads selects the specs for ReplicaSets and Deployments, --of=garbage those for the
// garbage collector.
func passOfficialSpecs(t *testing.T, kubeconfig string, args ...string) {
	t.Helper()
	program := repositoryFile(t, filepath.Join("bin", "conformance"))
	command := exec.CommandContext(t.Context(), program, append([]string{"--kubeconfig=" + kubeconfig}, args...)...)
	report, err := command.CombinedOutput()
	assert.NoError(t, err, "%s", report)
}

// TestOfficialWorkloadSpecs runs Kubernetes' own specs for ReplicaSets and Deployments against the
// two example controllers, on a genuine control plane whose kube-controller-manager runs neither.
func TestOfficialWorkloadSpecs(t *testing.T) {
	t.Parallel()
	server := startControlPlane(t, controlplane.Config{FakeNodes: 2, NamespaceController: true,
		Controllers: append(controlplane.DefaultControllers(), "resourcequota-controller")})
	runWorkloads(t, server)
	passOfficialSpecs(t, server.Kubeconfig(), "--of=workloads")
}

const garbageCollector = "garbage-collector-controller"

// TestOfficialGarbageSpecs runs Kubernetes' own specs for the garbage collector against the
// example's, on a genuine control plane with every controller but that one.
func TestOfficialGarbageSpecs(t *testing.T) {
	t.Parallel()
	server := startControlPlane(t, controlplane.Config{FakeNodes: 2, NamespaceController: true,
		Controllers: []string{"*", "-" + garbageCollector}})
	// The cluster does not show whether kube-controller-manager's own collector is off.
	runControllers(t, server, "collector", garbageCollector, "--allow-second-controller")
	passOfficialSpecs(t, server.Kubeconfig(), "--of=garbage")
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

// startLabServe starts "lab serve" with the controllers that fill every namespace, and others.
func startLabServe(t *testing.T, controllers ...string) *served.Server {
	t.Helper()
	config := served.Config{Controllers: append(controllers, served.NamespaceControllers()...)}
	server, err := served.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server
}

// kube-controller-manager on "lab serve" with three unmodified controllers: the namespace
// controller, and those for the default service account and the CA bundle. They use most of what
// controllers need of an API server: discovery, shared informers with streaming lists, metadata
// clients, deletion of collections, finalize and status. The facts of a scenario are those that the
// same controllers left on the genuine server.
func TestOriginalOnLabServe(t *testing.T) {
	t.Parallel()
	server := startLabServe(t, "namespace-controller")
	for _, s := range scenarios {
		if !s.anyServer {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tr := &trial{t: t, ctx: t.Context(), cluster: &Cluster{}, dead: server.Done(), state: endState{}}
			tr.client, tr.dynamic = clientsFor(t, server.Kubeconfig())
			s.perform(tr)
			assert.Equal(t, recorded(t, s.name), tr.state)
		})
	}
}

// Kubernetes' own specs pass on "lab serve": those of watches, discovery and lists in chunks, and with
// orrery those of namespaces.
func TestOfficialSpecsOnLabServe(t *testing.T) {
	t.Parallel()
	server := startLabServe(t)
	orrery, err := Orrery().start(server.Kubeconfig(), filepath.Join(t.TempDir(), "orrery.log"))
	require.NoError(t, err)
	t.Cleanup(func() { orrery.Stop(context.Background()) })
	passOfficialSpecs(t, server.Kubeconfig(), "--of=server")
	passOfficialSpecs(t, server.Kubeconfig())
}
