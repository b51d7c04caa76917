package apierrors_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/apiserver/apierrors"
)

func TestRetryAfter(t *testing.T) {
	assert.Equal(t, time.Second, apierrors.TooLargeVersion(2, 1).RetryAfter)
	assert.Equal(t, http.StatusGatewayTimeout, apierrors.Timeout("slow", 0).Status.Code)
	assert.Zero(t, apierrors.Timeout("slow", 0).RetryAfter)
}

func TestRefusalsAreNotShared(t *testing.T) {
	apierrors.MethodNotAllowed("x").Status.Details.Name = "changed"
	assert.Empty(t, apierrors.MethodNotAllowed("x").Status.Details.Name)
}
