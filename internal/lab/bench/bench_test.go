package bench_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

func TestProveNamesTheFailedCheck(t *testing.T) {
	require.NoError(t, bench.Prove("keys processed", 7, 7))
	err := fmt.Errorf("queue: %w", bench.Prove("keys processed", 1_000, 998))
	var proof *bench.ProofError
	require.ErrorAs(t, err, &proof)
	assert.Equal(t, &bench.ProofError{What: "keys processed", Want: 1_000, Got: 998}, proof)
	assert.EqualError(t, err, "queue: the work was not done: keys processed: got 998, want 1000")
}

func TestEffortsHaveNames(t *testing.T) {
	assert.Equal(t, 10, bench.Full.Of(10, 3))
	assert.Equal(t, 3, bench.Quick.Of(10, 3))
	for _, effort := range []bench.Effort{bench.Full, bench.Quick} {
		text, err := json.Marshal(effort)
		require.NoError(t, err)
		assert.Equal(t, `"`+effort.String()+`"`, string(text))
		var back bench.Effort
		require.NoError(t, json.Unmarshal(text, &back))
		assert.Equal(t, effort, back)
	}
	_, err := bench.ParseEffort("most")
	assert.EqualError(t, err, `there is no effort "most": choose full or quick`)
}

func TestFiguresAreFoundByName(t *testing.T) {
	result := bench.Result{Figures: []bench.Figure{{Name: "processed", Value: 3}, {Name: "peak memory", Value: 5}}}
	figure, ok := result.Figure("peak memory")
	assert.True(t, ok)
	assert.Equal(t, 5.0, figure.Value)
	_, ok = result.Figure("peak")
	assert.False(t, ok)
}

func TestPerOp(t *testing.T) {
	usage := bench.Usage{Elapsed: 3 * time.Microsecond, Allocs: 6, Bytes: 96}
	assert.Equal(t, map[string]float64{"ns/op": 1000, "allocs/op": 2, "B/op": 32}, usage.PerOp(3))
}
