package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/workloads"
)

// The originals' proofs equal those of this project's queue.
func TestQueuesProveTheSame(t *testing.T) {
	for _, original := range []workloads.QueueSubject{Queue(), PriorityQueue()} {
		theirs := workloads.QueueScenarios(original)
		require.Len(t, theirs, len(workloads.QueueScenarios(workloads.FastQueue())))
		for i, ours := range workloads.QueueScenarios(workloads.FastQueue()) {
			want, err := ours.Run(t.Context(), bench.Quick)
			require.NoError(t, err, ours.Name)
			got, err := theirs[i].Run(t.Context(), bench.Quick)
			require.NoError(t, err, "%s: %s", original.Name(), ours.Name)
			assert.Equal(t, want.Proof, got.Proof, "%s: %s", original.Name(), ours.Name)
		}
	}
}
