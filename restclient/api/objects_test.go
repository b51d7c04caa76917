package api_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// The fields that a type does not declare are written back, at every level.
func TestTypesLoseNothing(t *testing.T) {
	for _, c := range []struct {
		into any
		text string
	}{
		{&api.Pod{}, `{"kind":"Pod","apiVersion":"v1","new":{"a":[1]},"metadata":{"name":"p","newMeta":{"b":null}},
			"spec":{"nodeName":"n","terminationGracePeriodSeconds":30,"containers":[{"name":"c","env":[{"x":"y"}]}]},
			"status":{"phase":"Running","conditions":[{"type":"Ready","extra":{"deep":[true]}}],"podIP":"10.0.0.1"}}`},
		{&api.ConfigMap{}, `{"metadata":{"name":"m","newMeta":1},"data":{"key":"text"},"binaryData":{"bytes":"AAE="},
			"immutable":true}`},
	} {
		require.NoError(t, json.Unmarshal([]byte(c.text), c.into))
		written, err := json.Marshal(c.into)
		require.NoError(t, err)
		assert.JSONEq(t, c.text, string(written), "%T", c.into)
	}
}

// A document that cannot be read leaves the object as it was.
func TestAFailedReadChangesNothing(t *testing.T) {
	object := api.ConfigMap{Data: map[string]string{"key": "value"}}
	require.Error(t, json.Unmarshal([]byte(`{"kind": "other", "data": 7}`), &object))
	assert.Equal(t, api.ConfigMap{Data: map[string]string{"key": "value"}}, object)
}
