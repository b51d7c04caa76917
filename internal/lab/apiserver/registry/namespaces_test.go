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
	for _, target := range []registry.Target{w.ns("n"), w.at("customresourcedefinitions.apiextensions.k8s.io", "", "crontabs.stable.example.com")} {
		_, _, err := w.Delete(ctx, target, api.DeleteOptions{}, none)
		require.ErrorIs(t, err, assert.AnError)
		assert.Nil(t, w.get(target).GetDeletionTimestamp())
	}
}

func TestANamespaceWaitsForBothListsOfFinalizers(t *testing.T) {
	w := newWorld(t)
	w.make(w.ns(""), `{"metadata":{"name":"n","finalizers":["a.b/c"]}}`)
	w.delete(w.ns("n"), api.DeleteOptions{})
	_, err := w.update(w.ns("n", "finalize"), `{"metadata":{"name":"n","finalizers":["a.b/c"]},"spec":{"finalizers":[]}}`)
	require.NoError(t, err)
	assert.True(t, w.exists(w.ns("n")))
	after, gone := w.delete(w.ns("n"), api.DeleteOptions{})
	assert.False(t, gone)
	assert.Equal(t, int64(0), after.Decode().Nested("metadata", "deletionGracePeriodSeconds"), "now deleted like any other object")
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

// The life of a namespace as in the articles. The states are those of kube-apiserver.
func TestTheLifeOfANamespace(t *testing.T) {
	w := newWorld(t)
	created := w.make(w.ns(""), `{"metadata":{"name":"n"},"spec":{"finalizers":["openshift.com/origin"]},"status":{"phase":"Terminating"}}`)
	o := created.Decode()
	assert.Equal(t, []string{"openshift.com/origin", "kubernetes"}, o.NestedStringSlice("spec", "finalizers"), "every namespace gets this finalizer")
	assert.Equal(t, "Active", o.NestedString("status", "phase"))

	o, err := w.update(w.ns("n"), `{"metadata":{"name":"n","labels":{"a":"b"}},"spec":{"finalizers":[]},"status":{"phase":"Foo"}}`)
	require.NoError(t, err)
	assert.Len(t, o.NestedStringSlice("spec", "finalizers"), 2, "an update keeps the finalizers")
	assert.Equal(t, "Active", o.NestedString("status", "phase"))
	_, err = w.update(w.ns("n", "status"), `{"metadata":{"name":"n"},"status":{"phase":"Terminating"}}`)
	refused(t, err, 422, "Namespace \"n\" is invalid: status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty")

	w.make(w.at("configmaps", "n", ""), `{"metadata":{"name":"content"}}`)
	after, gone := w.delete(w.ns("n"), api.DeleteOptions{})
	assert.False(t, gone)
	o = after.Decode()
	assert.NotNil(t, o.GetDeletionTimestamp())
	assert.Nil(t, o.Nested("metadata", "deletionGracePeriodSeconds"), "only the timestamp is set")
	assert.Equal(t, "Terminating", o.NestedString("status", "phase"))
	again, gone := w.delete(w.ns("n"), api.DeleteOptions{})
	assert.False(t, gone)
	assert.Equal(t, after.Version, again.Version)

	_, err = w.update(w.ns("n", "status"), `{"metadata":{"name":"n"},"status":{"phase":"Active"}}`)
	refused(t, err, 422, "Namespace \"n\" is invalid: status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty")
	_, err = w.Create(ctx, w.at("configmaps", "n", ""), tree(`{"metadata":{"generateName":"x"}}`), none)
	assert.True(t, api.IsNamespaceTerminating(err), "%v", err)
	_, err = w.patch(w.at("configmaps", "n", "content"), `{"data":{"k":"v"}}`)
	require.NoError(t, err, "existing objects may be updated")

	// The registry does not check whether the namespace is empty: that is the controller's job.
	o, err = w.update(w.ns("n", "finalize"), `{"metadata":{"name":"n"},"spec":{"finalizers":["openshift.com/origin"]}}`)
	require.NoError(t, err)
	assert.Equal(t, []string{"openshift.com/origin"}, o.NestedStringSlice("spec", "finalizers"))
	w.delete(w.at("configmaps", "n", "content"), api.DeleteOptions{})
	assert.True(t, w.exists(w.ns("n")))
	o, err = w.update(w.ns("n", "finalize"), `{"metadata":{"name":"n"},"spec":{"finalizers":[]}}`)
	require.NoError(t, err)
	assert.Empty(t, o.NestedStringSlice("spec", "finalizers"))
	assert.False(t, w.exists(w.ns("n")), "removed with the last finalizer")
}
