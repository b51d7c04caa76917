package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/internal/observe/logs"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// serving starts "lab serve", and returns what it has printed.
func serving(t *testing.T, args ...string) (server *running, printed string) {
	t.Helper()
	server = start(t, append([]string{"serve"}, args...)...)
	return server, server.until(t, "Ctrl-C ends the server")
}

// The output is all that a user needs, and temporary files are removed at the end.
func TestServe(t *testing.T) {
	server, printed := serving(t, "-v2", "--fault", "delay:by=1ms")
	assert.Contains(t, printed, "Kubernetes API server in memory at https://127.0.0.1:")
	assert.Contains(t, printed, "Faults that are on: delay:by=1ms\n")
	path := regexp.MustCompile(`(?m)^  export KUBECONFIG=(\S+)$`).FindStringSubmatch(printed)
	require.NotNil(t, path, printed)
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path[1]})
	require.NoError(t, err)
	client, err := restclient.New(config)
	require.NoError(t, err)
	list, err := restclient.Metadata(client, api.NamespacesResource, "").List(t.Context(), api.ListOptions{})
	require.NoError(t, err)
	client.Close()
	assert.Len(t, list.Items, 4)
	require.NoError(t, server.end())
	assert.NoDirExists(t, filepath.Dir(path[1]))
	for _, line := range []string{"request begins", "request served", "stopping: "} {
		assert.Contains(t, server.stderr.String(), line)
	}
	token := regexp.MustCompile(`[A-Z2-7]{26}`)
	assert.Empty(t, token.FindAllString(server.stderr.String(), -1), "no token in the log")
}

func TestServeWithoutProtection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b", "kubeconfig")
	server, printed := serving(t, "--insecure-http", "--kubeconfig-out", path, "--nodes", "0")
	assert.Contains(t, printed, "export KUBECONFIG='"+path+"'\n")
	url := regexp.MustCompile(`curl (\S+)`).FindStringSubmatch(printed)
	require.NotNil(t, url)
	answer := func(method, url, host string) string {
		request, err := http.NewRequest(method, url, nil)
		require.NoError(t, err)
		request.Host = host
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return fmt.Sprint(response.StatusCode, " ", string(text))
	}
	assert.Contains(t, answer("GET", url[1], ""), "200 ")

	// Without credentials, a page whose host name points at this machine is recognized only by that
	// name.
	assert.Equal(t, "403 this server is not called \"evil.example\": use localhost or a loopback address\n",
		answer("DELETE", url[1]+"/default", "evil.example"))
	http.DefaultClient.CloseIdleConnections()
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	require.NoError(t, server.end())
	assert.NoFileExists(t, path)
}

// "--kubeconfig-out ~/.kube/config" once overwrote a user's access to a cluster.
func TestServeOverwritesNoOtherKubeconfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	const foreign = `{"apiVersion":"v1","kind":"Config","current-context":"orrery",
		"clusters":[{"name":"orrery","cluster":{"server":"https://192.168.49.2:8443"}}],"users":[{"name":"orrery","user":{"token":"x"}}],
		"contexts":[{"name":"orrery","context":{"cluster":"orrery","user":"orrery"}}]}`
	require.NoError(t, os.WriteFile(path, []byte(foreign), 0o600))
	code, _, stderr := lab(t, "serve", "--kubeconfig-out", path)
	assert.Equal(t, 1, code)
	assert.Equal(t, "lab: "+path+" exists and is not a kubeconfig of \"lab serve\"; choose another place with "+
		"--kubeconfig-out\n", stderr)
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, foreign, string(kept))

	require.NoError(t, os.WriteFile(path, nil, 0o600)) // nothing is lost
	first, _ := serving(t, "--kubeconfig-out", path)
	second, printed := serving(t, "--kubeconfig-out", path) // the file is that of a server now
	require.NoError(t, first.end())
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err, "the second one's stays")
	assert.Contains(t, printed, config.Host)
	added, err := kubeconfig.ReadFile(path)
	require.NoError(t, err)
	added.Contexts["mine"] = added.Contexts[added.CurrentContext]
	require.NoError(t, added.WriteFile(path))
	require.NoError(t, second.end())
	assert.FileExists(t, path, "the file has another context now")
}

// Two servers are two clusters in one KUBECONFIG: with the port in the names, no entry of the first
// file hides one of the second.
func TestServeKubeconfigsCanBeMerged(t *testing.T) {
	for _, args := range [][]string{{"--insecure-http"}, nil} {
		path := filepath.Join(t.TempDir(), "kubeconfig")
		_, printed := serving(t, append([]string{"--kubeconfig-out", path}, args...)...)
		own, err := kubeconfig.ReadFile(path)
		require.NoError(t, err)
		address, _, _ := strings.Cut(printed, "\n")
		name := "orrery-" + address[strings.LastIndex(address, ":")+1:]
		assert.Equal(t, name, own.CurrentContext, "want the name to have the port")
		require.Contains(t, own.Contexts, name)
		assert.Equal(t, []string{name, name}, []string{own.Contexts[name].Cluster, own.Contexts[name].User})
	}
}

func TestHelpTeachesEveryFault(t *testing.T) {
	_, stdout, _ := lab(t, "help", "faults")
	words := strings.Join(strings.Fields(stdout), " ")
	for _, kind := range faults.Catalogue() {
		assert.Contains(t, stdout, "\n  "+kind.Usage+"\n")
		assert.Contains(t, words, kind.Summary+" Teaches: "+strings.Join(strings.Fields(kind.Teaches), " "))
	}
}

// Log lines never contain secrets.
func TestTheLogHasNoSecrets(t *testing.T) {
	const canary = "canary-0123456789-abcdef"
	var out clustertest.Buffer
	hooks := loggedRequests(logs.New(logs.Config{Writer: &out, Verbosity: 3}))
	info := apiserver.RequestInfo{Method: "GET", URI: "/api?token=" + canary, UserAgent: "curl"}
	hooks.RequestStarted(info)
	hooks.RequestDone(info, apiserver.RequestResult{Code: 200})
	hooks.Panicked(info, "Authorization: Bearer "+canary, nil)
	assert.Equal(t, 3, strings.Count(out.String(), "/api?token="), out.String())
	assert.NotContains(t, out.String(), canary)
}

func TestShellQuoted(t *testing.T) {
	for path, want := range map[string]string{"/a/b-c.d": "/a/b-c.d", "/a b": "'/a b'", "/it's": `'/it'\''s'`} {
		assert.Equal(t, want, shellQuoted(path), path)
	}
}

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
	causes.Finalize(world)
	require.NoError(t, world.Err())
	code, stdout, _ = lab(t, "break", "--check", "--server", file)
	assert.Zero(t, code, stdout)
	assert.Contains(t, stdout, "✔ the namespace is gone, and nothing was stranded or damaged: C18, ")
}
