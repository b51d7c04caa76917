package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

// TestOfficialSpecs runs Kubernetes' own specs for namespaces against orrery; with wholeMatrix also
// against the original, whose success proves the setup.
func TestOfficialSpecs(t *testing.T) {
	for _, subject := range subjectsNow() {
		t.Run(subject.Name, func(t *testing.T) {
			t.Parallel()
			config := controlplane.Config{FakeNodes: 1, Log: t.Output()}
			cluster, err := StartCluster(t.Context(), subject, config)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, cluster.Stop()) })
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
