package api_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

func TestGroupVersions(t *testing.T) {
	for text, want := range map[string]api.GroupVersion{
		"v1":      {Version: "v1"},
		"apps/v1": {Group: "apps", Version: "v1"},
		"":        {},
	} {
		got, err := api.ParseGroupVersion(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, text, got.String())
	}
	got, err := api.ParseGroupVersion("/")
	require.NoError(t, err)
	assert.Equal(t, api.GroupVersion{}, got)
	_, err = api.ParseGroupVersion("a/b/c")
	assert.EqualError(t, err, "unexpected GroupVersion string: a/b/c", "the namespace conditions show this text")

	gvr := api.GroupVersion{Group: "apps", Version: "v1"}.WithResource("deployments")
	assert.Equal(t, "apps/v1, Resource=deployments", gvr.String())
	assert.Equal(t, api.GroupVersion{Group: "apps", Version: "v1"}, gvr.GroupVersion())
	assert.Equal(t, "deployments.apps", gvr.GroupResource())
	assert.Equal(t, "pods.", api.PodsResource.GroupResource(), "the conditions name core resources with a trailing dot")
	assert.Equal(t, "/v1, Resource=pods", api.PodsResource.String())
	assert.Equal(t, "apps/v1, Kind=Deployment", api.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}.String())
}

func TestDeleteOptionsOnTheWire(t *testing.T) {
	grace, uid, version := int64(0), "u", "7"
	for want, options := range map[string]api.DeleteOptions{
		`{"kind":"DeleteOptions","apiVersion":"v1"}`: {},
		`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"u","resourceVersion":"7"},"propagationPolicy":"Foreground","dryRun":["All"]}`: {
			GracePeriodSeconds: &grace, Preconditions: &api.Preconditions{UID: &uid, ResourceVersion: &version},
			PropagationPolicy: api.DeletePropagationForeground, DryRun: true,
		},
	} {
		data, err := json.Marshal(options)
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
		var back api.DeleteOptions
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, options, back)
	}
	assert.Error(t, json.Unmarshal([]byte(`{"gracePeriodSeconds":"soon"}`), &api.DeleteOptions{}))
}

func TestSingleAttempt(t *testing.T) {
	assert.False(t, api.IsSingleAttempt(t.Context()))
	single := api.WithSingleAttempt(t.Context())
	assert.True(t, api.IsSingleAttempt(single))
	made, cancel := context.WithCancel(single)
	defer cancel()
	assert.True(t, api.IsSingleAttempt(made))
}
