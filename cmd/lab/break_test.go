package main

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/causes"
	"orrery/restclient"
	"orrery/restclient/kubeconfig"
)

// On a server where a situation is set up, a check without a repair fails.
func TestBreakOnAServer(t *testing.T) {
	server, err := apiserver.New(apiserver.Config{Listen: "127.0.0.1:0", TLS: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Stop(context.Background())) }()
	require.NoError(t, server.Start(t.Context()))
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, server.WriteKubeconfig(file))
	on := func(args ...string) (int, string, string) {
		return lab(t, append(append([]string{"break"}, args...), "--server", file)...)
	}

	code, _, stderr := on("--check")
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

	code, stdout, _ := on("--check")
	assert.Equal(t, 1, code)
	assert.Contains(t, stdout, "the namespace shop is still there")
	code, _, _ = on("C07", "--check")
	assert.Equal(t, 2, code)
	stripped.Solve(world)
	require.NoError(t, world.Err())
}
