package meta_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/apiserver/meta"
)

func TestRetryAfter(t *testing.T) {
	assert.Equal(t, time.Second, meta.TooLargeVersion(2, 1).RetryAfter)
	assert.Equal(t, http.StatusGatewayTimeout, meta.Timeout("slow", 0).Status.Code)
	assert.Zero(t, meta.Timeout("slow", 0).RetryAfter)
}

func TestRefusalsAreNotShared(t *testing.T) {
	meta.MethodNotAllowed("x").Status.Details.Name = "changed"
	assert.Empty(t, meta.MethodNotAllowed("x").Status.Details.Name)
}
