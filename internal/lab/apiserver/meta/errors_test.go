package meta_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/apiserver/meta"
)

func TestRetryAfter(t *testing.T) {
	assert.Equal(t, time.Second, meta.TooLargeVersion(2, 1).RetryAfter)
}
