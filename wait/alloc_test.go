package wait

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A turn of the loop allocates nothing; what is allocated is the loop itself.
func TestLoopDoesNotAllocatePerTurn(t *testing.T) {
	perLoop := func(turns int) float64 {
		return testing.AllocsPerRun(20, func() {
			stop := make(chan struct{})
			left := turns
			Until(func() {
				if left--; left == 0 {
					close(stop)
				}
			}, 0, stop)
		})
	}
	assert.Equal(t, perLoop(1), perLoop(500))
}
