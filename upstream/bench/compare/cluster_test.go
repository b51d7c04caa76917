package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/upstream/controlplane"
)

// Both controllers on a genuine control plane, with little work.
func TestBothSidesDoTheSameWork(t *testing.T) {
	orrery, err := controlplane.FindUp(filepath.Join("bin", "orrery"))
	require.NoError(t, err)
	plane, err := controlplane.FindUp(filepath.Join("bin", "controlplane"))
	require.NoError(t, err)
	runner, err := startCluster(t.Context(), programs{Orrery: orrery, ControlPlane: plane})
	require.NoError(t, err)
	defer func() { require.NoError(t, runner.Stop()) }()

	figures := map[string][]string{Hundred: {"s", "requests", "resident MiB"}, Empty: {"ms", "requests"}}
	for scenario, names := range figures {
		ours, err := runner.Run(t.Context(), Ours, scenario, bench.Quick)
		require.NoError(t, err)
		theirs, err := runner.Run(t.Context(), Theirs, scenario, bench.Quick)
		require.NoError(t, err)
		assert.Equal(t, ours.Proof, theirs.Proof)
		for _, name := range names {
			assert.Positive(t, ours.Figures[name], "%s %s", scenario, name)
			assert.Positive(t, theirs.Figures[name], "%s %s", scenario, name)
		}
		assert.Less(t, ours.Figures["requests"], theirs.Figures["requests"], scenario)
		if scenario == Empty {
			assert.LessOrEqual(t, ours.Figures["requests"], 36.0)
		}
	}
}

func TestProgramsThatDoNotExist(t *testing.T) {
	_, err := startCluster(t.Context(), programs{Orrery: "/nowhere", ControlPlane: "/nowhere"})
	assert.ErrorContains(t, err, "/nowhere")
}
