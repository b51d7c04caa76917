package api_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

func TestListOptionsOnTheWire(t *testing.T) {
	all := api.ListOptions{
		LabelSelector: "a in (b,c)", FieldSelector: "metadata.name=x", ResourceVersion: "7", ResourceVersionMatch: api.MatchExact,
		Limit: 500, Continue: "tok", TimeoutSeconds: 60, AllowWatchBookmarks: true, SendInitialEvents: true,
	}
	assert.Equal(t, "allowWatchBookmarks=true&continue=tok&fieldSelector=metadata.name%3Dx&labelSelector=a+in+%28b%2Cc%29&limit=500"+
		"&resourceVersion=7&resourceVersionMatch=Exact&sendInitialEvents=true&timeoutSeconds=60", all.Query().Encode())
	assert.Empty(t, api.ListOptions{}.Query())
}

func TestOtherOptionsOnTheWire(t *testing.T) {
	assert.Equal(t, "resourceVersion=0", api.GetOptions{ResourceVersion: "0"}.Query().Encode())
	assert.Empty(t, api.GetOptions{}.Query())
	assert.Equal(t, "dryRun=All&fieldManager=me&force=true", api.UpdateOptions{FieldManager: "me", Force: true, DryRun: true}.Query().Encode())
	assert.Empty(t, api.UpdateOptions{}.Query())
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
