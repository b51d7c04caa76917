package e2e

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

// TestOfficialSpecs runs Kubernetes' own specs for namespaces against orrery on the genuine server;
// with wholeMatrix against each namespace controller on each server. The original's success there
// proves the setup.
func TestOfficialSpecs(t *testing.T) {
	for _, platform := range platformsFor(t.Name()) {
		for _, subject := range subjectsNow() {
			t.Run(platform.Name+"/"+subject.Name, func(t *testing.T) {
				t.Parallel()
				passOfficialSpecs(t, platform, subject)
			})
		}
	}
}

func passOfficialSpecs(t *testing.T, platform Platform, subject Subject) {
	cluster, err := StartCluster(t.Context(), platform, subject, controlplane.Config{FakeNodes: 1, Log: t.Output()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Stop()) })

	var report bytes.Buffer
	err = RunOfficialSpecs(t.Context(), cluster.Kubeconfig(), &report)
	if err != nil {
		t.Logf("%s\n\nthe end of the log of %s:\n%s", report.String(), subject.Name, cluster.Controller().Tail())
	}
	require.NoError(t, err)
}
