package chaos

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCallbacksAtTheSameTime(t *testing.T) {
	var c calls
	c.enter()
	c.leave()
	c.enter()
	assert.False(t, c.overlapped())
	c.enter()
	c.leave()
	c.leave()
	assert.True(t, c.overlapped(), "it is not forgotten")
}
