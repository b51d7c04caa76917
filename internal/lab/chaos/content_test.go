package chaos

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// A store with the right versions but wrong content is found too.
func TestFieldsAreCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := newWorld(calm(), sabotage{})
		require.NoError(t, err)
		defer w.stopServer()
		w.perform(Step{What: Put, On: "configmaps/n0/a", N: 7})
		server, err := w.registry().Get(w.target("configmaps", "n0", "a"), api.GetOptions{})
		require.NoError(t, err)

		document := server.Decode()
		assert.Empty(t, differs(server, document))
		head := &api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Labels: map[string]string{"value": "7"}}}
		assert.Empty(t, differs(server, head))
		head.Labels["value"] = "8"
		assert.Contains(t, differs(server, head), "labels")
		require.NoError(t, document.SetNested("x", "data", "k"))
		assert.Contains(t, differs(server, document), "should be")

		space, err := w.registry().Get(w.target("namespaces", "", "n0"), api.GetOptions{})
		require.NoError(t, err)
		typed := &api.Namespace{ObjectMeta: api.ObjectMeta{Labels: space.Labels},
			Status: api.NamespaceStatus{Phase: api.NamespaceActive}}
		assert.Empty(t, differs(space, typed))
		typed.Status.Phase = api.NamespaceTerminating
		assert.Contains(t, differs(space, typed), "phase")
	})
}
