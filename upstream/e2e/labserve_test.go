package e2e

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/upstream/apiserver/served"
)

// startLabServe starts "lab serve" with the controllers that fill every namespace, and others.
func startLabServe(t *testing.T, controllers ...string) *served.Server {
	t.Helper()
	config := served.Config{Controllers: append(controllers, served.NamespaceControllers()...)}
	server, err := served.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server
}

// kube-controller-manager on "lab serve" with three unmodified controllers: the namespace
// controller, and those for the default service account and the CA bundle. They use most of what
// controllers need of an API server: discovery, shared informers with streaming lists, metadata
// clients, deletion of collections, finalize and status. The facts of a scenario are those that the
// same controllers left on the genuine server.
func TestOriginalOnLabServe(t *testing.T) {
	t.Parallel()
	server := startLabServe(t, "namespace-controller")
	for _, s := range scenarios {
		if !s.anyServer {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tr := &trial{t: t, ctx: t.Context(), cluster: &Cluster{}, dead: server.Done(), state: endState{}}
			tr.client, tr.dynamic = clientsFor(t, server.Kubeconfig())
			s.perform(tr)
			assert.Equal(t, recorded(t, s.name), tr.state)
		})
	}
}

// Kubernetes' own specs pass on "lab serve": those of watches, discovery and lists in chunks, and with
// orrery those of namespaces.
func TestOfficialSpecsOnLabServe(t *testing.T) {
	t.Parallel()
	server := startLabServe(t)
	orrery, err := Orrery().start(server.Kubeconfig(), filepath.Join(t.TempDir(), "orrery.log"))
	require.NoError(t, err)
	t.Cleanup(func() { orrery.Stop(context.Background()) })
	passOfficialSpecs(t, server.Kubeconfig(), "--of=server")
	passOfficialSpecs(t, server.Kubeconfig())
}
