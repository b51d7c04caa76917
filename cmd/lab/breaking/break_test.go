package breaking_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/cmd/lab/breaking"
	"orrery/internal/app/program"
	"orrery/internal/app/program/programtest"
	"orrery/internal/lab/apiserver"
)

func root() *cobra.Command {
	root := &cobra.Command{Use: "lab", Short: "x"}
	program.SetUsageCode(root, 2)
	root.AddCommand(breaking.New())
	return root
}

func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	return programtest.Call(t, root(), error.Error, append([]string{"break"}, args...)...)
}

func TestMistakes(t *testing.T) {
	for _, args := range [][]string{
		{}, {"C77"}, {"--check"}, {"C07", "--random"}, {"--hint", "--solve"}, {"--check", "--server", "/nope"}, {"--seed", "82", "first"}, {"--seed", "0", "first"}, {"C07", "--throw-away"},
	} {
		code, stdout, stderr := call(t, args...)
		assert.Equal(t, 2, code, args)
		assert.Empty(t, stdout, args)
		assert.NotEmpty(t, stderr, args)
	}
}

func TestList(t *testing.T) {
	code, stdout, _ := call(t, "--list")
	assert.Zero(t, code)
	assert.Equal(t, 30, strings.Count(stdout, "\n"))
}

// A server that is not one of the laboratory is left alone, unless it may be broken.
func TestAnotherServer(t *testing.T) {
	var written atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			written.Add(1)
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(`{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"c","cluster":{"server":"`+server.URL+`"}}],"users":[{"name":"u","user":{}}],
		"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]}`), 0o600))
	code, _, stderr := call(t, "C18", "--server", kubeconfig)
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "it is not a server of lab serve or lab break")
	assert.Zero(t, written.Load())
	call(t, "C18", "--server", kubeconfig, "--throw-away")
	assert.Positive(t, written.Load())
}

// On a server that is running: the situation is set up, hints go on where the last one ended, and a
// check without a repair fails.
func TestOnAServer(t *testing.T) {
	server, err := apiserver.New(apiserver.Config{Listen: "127.0.0.1:0", TLS: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Stop(context.Background())) }()
	require.NoError(t, server.Start(t.Context()))
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, server.WriteKubeconfig(kubeconfig))
	on := func(args ...string) (int, string, string) { return call(t, append(args, "--server", kubeconfig)...) }

	code, _, stderr := on("--check")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "no situation is set up on this server")
	code, stdout, stderr := on("c18")
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "namespace shop: Terminating")
	assert.NotContains(t, stdout, "C18")
	_, first, _ := on("--hint")
	assert.Contains(t, first, "each condition")
	on("--hint")
	_, third, _ := on("--hint")
	assert.Contains(t, third, "C18: a foreign token")
	code, stdout, _ = on("--check")
	assert.Equal(t, 1, code)
	assert.Contains(t, stdout, "the namespace shop is still there")
	code, _, _ = on("C07", "--check")
	assert.Equal(t, 2, code)
	code, _, stderr = on("--solve")
	assert.Zero(t, code, stderr)
	code, _, stderr = on("--end")
	assert.Zero(t, code, stderr)
}
