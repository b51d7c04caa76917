package histogram

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestEveryDurationHasOneBucket(t *testing.T) {
	next := time.Duration(0)
	for i := range buckets {
		from, to := lowerBound(i), upperBound(i)
		assert.Equal(t, next, from, "bucket %d begins where the one before ended", i)
		assert.Equal(t, i, bucketOf(from))
		assert.Equal(t, i, bucketOf(to))
		assert.LessOrEqual(t, float64(to-from), float64(from)/subBuckets, "bucket %d", i)
		next = to + 1
	}
	assert.EqualValues(t, math.MinInt64, next, "one more than the longest duration")
}
