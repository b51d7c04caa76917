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
