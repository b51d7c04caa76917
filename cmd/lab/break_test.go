package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/causes"
	"orrery/restclient"
	"orrery/restclient/kubeconfig"
)

// On a server where a situation is set up, a check without a repair fails.
func TestBreakOnAServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	serving(t, "--kubeconfig-out", file)
	code, _, stderr := lab(t, "break", "--check", "--server", file)
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "no situation is set up on this server")

	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: file})
	require.NoError(t, err)
	client, err := restclient.New(config)
	require.NoError(t, err)
	defer client.Close()
	stripped, _ := causes.Find("C18")
	world := causes.NewWorld(t.Context(), client)
	require.NoError(t, world.Break(stripped))
	defer world.Wait()
	code, stdout, _ := lab(t, "break", "--check", "--server", file)
	assert.Equal(t, 1, code)
	assert.Contains(t, stdout, "the namespace shop is still there")
	stripped.Solve(world)
	require.NoError(t, world.Err())
}
