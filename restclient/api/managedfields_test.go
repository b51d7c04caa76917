package api_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

const someFields = `[{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-01-05T08:00:00Z","fieldsType":"FieldsV1",` +
	`"fieldsV1":{"f:status":{"f:podIPs":{"k:{\"ip\":\"10.0.0.1\"}":{".":{},"f:ip":{}}}}},"subresource":"status"}]`

func TestManagedFieldsAreWrittenAsTheyWereRead(t *testing.T) {
	for _, text := range []string{someFields, `[]`, `[ {"manager" : "kubectl"} ]`, `[{"manager":"\u00e9 \"x\" \\"}]`} {
		var meta api.ObjectMeta
		require.NoError(t, json.Unmarshal([]byte(`{"managedFields":`+text+`}`), &meta))
		assert.Equal(t, text, meta.ManagedFields.String())
		assert.Equal(t, api.NewManagedFields([]byte(text)), meta.ManagedFields)
		written, err := json.Marshal(&meta)
		require.NoError(t, err)
		assert.JSONEq(t, `{"managedFields":`+text+`}`, string(written))
	}
}

func TestNoManagedFields(t *testing.T) {
	var meta api.ObjectMeta
	require.NoError(t, json.Unmarshal([]byte(`{"managedFields":null}`), &meta))
	assert.True(t, meta.ManagedFields.IsZero())
	assert.Empty(t, meta.ManagedFields.String())
	written, err := json.Marshal(&meta)
	require.NoError(t, err)
	assert.Equal(t, `{}`, string(written), "an empty list would mean that no client manages a field")
	alone, err := json.Marshal(meta.ManagedFields)
	require.NoError(t, err)
	assert.Equal(t, "null", string(alone))
	entries, err := meta.ManagedFields.Entries()
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestManagedFieldsKeepNothingOfTheInput(t *testing.T) {
	input := []byte(someFields)
	fields := api.NewManagedFields(input)
	for i := range input {
		input[i] = 'x'
	}
	assert.Equal(t, someFields, fields.String())
}

func TestManagedFieldsEntries(t *testing.T) {
	entries, err := api.NewManagedFields([]byte(someFields)).Entries()
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.Equal(t, "kubelet", entries[0].Manager)
	assert.Equal(t, "status", entries[0].Subresource)
	assert.Equal(t, time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC), entries[0].Time.Time)
	assert.JSONEq(t, `{"f:status":{"f:podIPs":{"k:{\"ip\":\"10.0.0.1\"}":{".":{},"f:ip":{}}}}}`, string(entries[0].FieldsV1))

	_, err = api.NewManagedFields([]byte(`{"manager":7}`)).Entries()
	assert.Error(t, err)
}

// A namespace read from a server is written back with all its managed fields.
func TestManagedFieldsSurviveAnUpdate(t *testing.T) {
	document, err := os.ReadFile("testdata/namespace.json")
	require.NoError(t, err)
	var namespace api.Namespace
	require.NoError(t, json.Unmarshal(document, &namespace))
	copied := namespace.DeepCopy()
	copied.Status.Phase = api.NamespaceTerminating
	written, err := json.Marshal(copied)
	require.NoError(t, err)
	var before, after struct {
		Metadata struct{ ManagedFields json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(document, &before))
	require.NoError(t, json.Unmarshal(written, &after))
	require.NotEmpty(t, before.Metadata.ManagedFields)
	assert.JSONEq(t, string(before.Metadata.ManagedFields), string(after.Metadata.ManagedFields))
}
