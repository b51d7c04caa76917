package main

import (
	"context"
	"errors"
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

func TestUnknownScenariosAndSides(t *testing.T) {
	_, err := (&cluster{}).Run(t.Context(), Ours, "deletion/none", bench.Quick)
	assert.EqualError(t, err, "there is no scenario deletion/none of ours")
	_, err = (&cluster{}).Run(t.Context(), Priority, Hundred, bench.Quick)
	assert.EqualError(t, err, "there is no scenario deletion/hundred of controller-runtime")
}

// The end of the context hides neither an error nor a success.
func TestPollAtTheEndOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("not done after 3m0s"))
	poll := func(ok bool, err error) error {
		return poll(ctx, "it", func() (bool, error) { return ok, err })
	}
	assert.NoError(t, poll(true, nil))
	assert.EqualError(t, poll(false, errors.New("the controller has ended")), "the controller has ended")
	assert.EqualError(t, poll(false, nil), "waiting for it: not done after 3m0s")
}
