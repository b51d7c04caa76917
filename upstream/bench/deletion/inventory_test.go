package deletion

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

func TestWhateverElseWasTouchedFailsTheProof(t *testing.T) {
	before := []string{"configmaps a settings uid-1 7", "secrets a key uid-2 8"}
	require.NoError(t, proveUntouched(before, []string{before[1], before[0]}))
	for name, after := range map[string][]string{
		"gone":    before[:1],
		"new":     append([]string{"secrets b left-behind uid-3 9"}, before...),
		"changed": {before[0], "secrets a key uid-2 10"},
	} {
		var proof *bench.ProofError
		require.ErrorAs(t, proveUntouched(before, after), &proof, name)
		assert.Contains(t, proof.Got, "secrets", name)
		assert.NotContains(t, proof.Got, "configmaps", name)
	}
}
