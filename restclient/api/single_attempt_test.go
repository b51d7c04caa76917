package api_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/restclient/api"
)

func TestSingleAttempt(t *testing.T) {
	assert.False(t, api.IsSingleAttempt(t.Context()))
	single := api.WithSingleAttempt(t.Context())
	assert.True(t, api.IsSingleAttempt(single))
	made, cancel := context.WithCancel(single)
	defer cancel()
	assert.True(t, api.IsSingleAttempt(made))
}
