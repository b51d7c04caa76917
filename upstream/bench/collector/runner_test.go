package collector

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/upstream/bench/compare"
	"orrery/upstream/controlplane"
)

// Both sides with little work.
func TestBothSidesDoTheSameWork(t *testing.T) {
	var config Config
	var err error
	config.Orrery, err = controlplane.FindUp(filepath.Join("bin", "orrery"))
	require.NoError(t, err)
	config.ControlPlane, err = controlplane.FindUp(filepath.Join("bin", "controlplane"))
	require.NoError(t, err)
	ours, err := Run(t.Context(), config, compare.Ours, bench.Quick)
	require.NoError(t, err)
	theirs, err := Run(t.Context(), config, compare.Theirs, bench.Quick)
	require.NoError(t, err)
	assert.Equal(t, "10 owners and 200 dependents are gone, the other 1890 objects are there", ours.Proof)
	assert.Equal(t, ours.Proof, theirs.Proof)
	for _, figure := range []string{"s", "cpu s", "peak MiB"} {
		assert.Positive(t, ours.Figures[figure], figure)
		assert.Positive(t, theirs.Figures[figure], figure)
	}
}

func TestUnknownScenariosAndSides(t *testing.T) {
	_, err := Run(t.Context(), Config{}, compare.Priority, bench.Quick)
	assert.EqualError(t, err, "collector/owned: there is no garbage collector of controller-runtime")
	_, err = Run(t.Context(), Config{Orrery: "/nowhere"}, compare.Ours, bench.Quick)
	assert.ErrorContains(t, err, "/nowhere")
}

func TestProcessorTime(t *testing.T) {
	_, err := processorTime(os.Getpid())
	require.NoError(t, err)
	_, err = processorTime(-1)
	assert.Error(t, err, "there is no such process")
}
