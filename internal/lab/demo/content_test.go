package demo

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Any number of objects gives at least one of each type; the sum is exact where it can be.
func TestNumbers(t *testing.T) {
	for _, objects := range []int{1, 10, 11, 60, 320, 20_000} {
		sum := 0
		for _, n := range numbers(objects) {
			assert.Positive(t, n)
			sum += n
		}
		assert.Equal(t, max(objects, len(content)), sum)
	}
}
