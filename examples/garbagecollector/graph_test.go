package garbagecollector

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/restclient/api"
)

func TestMonitorsKeepNoMoreThanTheyNeed(t *testing.T) {
	labels := map[string]string{"a": "b"}
	meta := api.ObjectMeta{Name: "o", Labels: labels, Annotations: labels}
	object, err := strip(&api.PartialObjectMetadata{ObjectMeta: meta})
	assert.NoError(t, err)
	assert.Equal(t, api.ObjectMeta{Name: "o"}, object.ObjectMeta)
	assert.False(t, new(monitors).hasSynced(), "no type is known")
}
