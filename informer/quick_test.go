package informer

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestRingIsAQueue compares the ring with a slice.
func TestRingIsAQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring[int]
		var model []int
		next := 0
		for range rapid.IntRange(1, 20).Draw(t, "rounds") {
			for range rapid.IntRange(0, 700).Draw(t, "writes") {
				r.write(next)
				model = append(model, next)
				next++
			}
			for range rapid.IntRange(0, 700).Draw(t, "reads") {
				got, ok := r.read()
				require.Equal(t, len(model) > 0, ok)
				if !ok {
					require.Zero(t, got)
					break
				}
				require.Equal(t, model[0], got)
				model = model[1:]
			}
			require.Equal(t, len(model), r.count)
		}
	})
}
