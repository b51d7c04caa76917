package registry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

func TestAdmissionMayDenyTheDeletionOfANamespace(t *testing.T) {
	w := newWorld(t, func(c *registry.Config) {
		c.Admit = func(_ context.Context, a registry.Attributes) error {
			if a.Verb == "delete" {
				return assert.AnError
			}
			return nil
		}
	})
	w.make(w.ns(""), `{"metadata":{"name":"n"}}`)
	w.makeCronTabs()
	for _, target := range []registry.Target{w.ns("n"),
		w.at("customresourcedefinitions.apiextensions.k8s.io", "", "crontabs.stable.example.com")} {
		_, _, err := w.Delete(ctx, target, api.DeleteOptions{}, none)
		require.ErrorIs(t, err, assert.AnError)
		assert.Nil(t, w.get(target).GetDeletionTimestamp())
	}
}

func TestANamespaceWaitsForBothListsOfFinalizers(t *testing.T) {
	w := newWorld(t)
	w.make(w.ns(""), `{"metadata":{"name":"n","finalizers":["a.b/c"]}}`)
	w.delete(w.ns("n"), api.DeleteOptions{})
	_, err := w.update(w.ns("n", "finalize"),
		`{"metadata":{"name":"n","finalizers":["a.b/c"]},"spec":{"finalizers":[]}}`)
	require.NoError(t, err)
	assert.True(t, w.exists(w.ns("n")))
	after, gone := w.delete(w.ns("n"), api.DeleteOptions{})
	assert.False(t, gone)
	assert.Equal(t, int64(0), after.Decode().Nested("metadata", "deletionGracePeriodSeconds"),
		"now deleted like any other object")
	_, err = w.patch(w.ns("n"), `{"metadata":{"finalizers":null}}`)
	require.NoError(t, err)
	assert.False(t, w.exists(w.ns("n")))

	w.make(w.ns(""), `{"metadata":{"name":"n","finalizers":["a.b/c"]}}`)
	w.delete(w.ns("n"), api.DeleteOptions{})
	_, err = w.patch(w.ns("n"), `{"metadata":{"finalizers":null}}`)
	require.NoError(t, err)
	assert.True(t, w.exists(w.ns("n")), "in the other order")
}

// "It performs a final DELETE action to remove that Namespace from the storage" (the design
// document). This is needed if the finalizers were removed before the deletion began.
func TestTheFinalDelete(t *testing.T) {
	w := newWorld(t)
	w.make(w.ns(""), `{"metadata":{"name":"n"}}`)
	_, err := w.update(w.ns("n", "finalize"), `{"metadata":{"name":"n"},"spec":{"finalizers":[]}}`)
	require.NoError(t, err)
	after, gone := w.delete(w.ns("n"), api.DeleteOptions{})
	assert.False(t, gone)
	assert.Equal(t, "Terminating", after.Decode().NestedString("status", "phase"))
	assert.True(t, w.exists(w.ns("n")))
	_, gone = w.delete(w.ns("n"), api.DeleteOptions{})
	assert.True(t, gone)
}
