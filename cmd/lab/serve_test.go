package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program"
	"orrery/internal/app/program/programtest"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/clustertest"
	"orrery/internal/observe/logs"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// lab returns the program with this command.
func lab() *cobra.Command {
	root := &cobra.Command{Use: "lab"}
	root.AddCommand(New(), NewFaultsTopic())
	return root
}

// serving is a run of "lab serve".
type serving struct {
	stdout, stderr *clustertest.Buffer
	stop           func()
	ended          <-chan error
}

// startServe runs "lab serve" until the test ends, and waits until it has printed its address.
func startServe(t *testing.T, args ...string) serving {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := serving{stdout: &clustertest.Buffer{}, stderr: &clustertest.Buffer{}, stop: cancel}
	reader, writer := io.Pipe()
	root := lab()
	root.SetArgs(append([]string{"serve"}, args...))
	root.SetOut(writer)
	root.SetErr(s.stderr)
	program.Prepare(root)
	done := make(chan error, 1)
	go func() {
		err := root.ExecuteContext(ctx)
		writer.Close()
		done <- err
	}()
	s.ended = done
	t.Cleanup(cancel)
	greeted := make(chan struct{})
	go func() {
		buffer := make([]byte, 4096)
		for first := true; ; {
			n, err := reader.Read(buffer)
			s.stdout.Write(buffer[:n])
			if first && (n > 0 || err != nil) {
				first = false
				close(greeted)
			}
			if err != nil {
				return
			}
		}
	}()
	<-greeted
	return s
}

// client returns a client with the kubeconfig that the server has printed.
func (s serving) client(t *testing.T) *restclient.Client {
	t.Helper()
	line := regexp.MustCompile(`(?m)^  export KUBECONFIG=(\S+)$`).FindStringSubmatch(s.stdout.String())
	require.NotNil(t, line, s.stdout.String())
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: line[1]})
	require.NoError(t, err)
	client, err := restclient.New(config)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// The output is all that a user needs, and temporary files are removed at the end.
func TestServe(t *testing.T) {
	s := startServe(t, "-v2", "--fault", "delay:by=1ms")
	assert.Contains(t, s.stdout.String(), "Kubernetes API server in memory at https://127.0.0.1:")
	assert.Contains(t, s.stdout.String(), "Faults that are on: delay:by=1ms\n")
	client := s.client(t)
	list, err := restclient.Metadata(client, api.NamespacesResource, "").List(t.Context(), api.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, list.Items, 4)
	client.Close()
	path := strings.TrimSpace(strings.Split(strings.Split(s.stdout.String(), "KUBECONFIG=")[1], "\n")[0])
	s.stop()
	require.NoError(t, <-s.ended)
	assert.NoDirExists(t, filepath.Dir(path))
	assert.Contains(t, s.stderr.String(), "request begins")
	assert.Contains(t, s.stderr.String(), "request served")
	assert.Contains(t, s.stderr.String(), "stopping: ")
	token := regexp.MustCompile(`[A-Z2-7]{26}`)
	assert.Empty(t, token.FindAllString(s.stderr.String(), -1), "no token in the log")
}

func TestServeWithoutProtection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b", "kubeconfig")
	s := startServe(t, "--insecure-http", "--kubeconfig-out", path, "--nodes", "0")
	assert.Contains(t, s.stdout.String(), "export KUBECONFIG='"+path+"'\n")
	url := regexp.MustCompile(`curl (\S+)`).FindStringSubmatch(s.stdout.String())
	require.NotNil(t, url)
	response, err := http.Get(url[1])
	require.NoError(t, err)
	response.Body.Close()
	assert.Equal(t, 200, response.StatusCode)

	// Without credentials, a page whose host name points at this machine is recognized only by that
	// name.
	request, err := http.NewRequest("DELETE", url[1]+"/default", nil)
	require.NoError(t, err)
	request.Host = "evil.example"
	response, err = http.DefaultClient.Do(request)
	require.NoError(t, err)
	refusal, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	response.Body.Close()
	assert.Equal(t, 403, response.StatusCode)
	assert.Equal(t, "this server is not called \"evil.example\": use localhost or a loopback address\n",
		string(refusal))
	http.DefaultClient.CloseIdleConnections()
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	s.stop()
	require.NoError(t, <-s.ended)
	assert.NoFileExists(t, path)
}

// "--kubeconfig-out ~/.kube/config" once overwrote a user's access to a cluster.
func TestServeOverwritesNoOtherKubeconfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	const foreign = `{"apiVersion":"v1","kind":"Config","current-context":"orrery",
		"clusters":[{"name":"orrery","cluster":{"server":"https://192.168.49.2:8443"}}],"users":[{"name":"orrery","user":{"token":"x"}}],
		"contexts":[{"name":"orrery","context":{"cluster":"orrery","user":"orrery"}}]}`
	require.NoError(t, os.WriteFile(path, []byte(foreign), 0o600))
	code, _, stderr := programtest.Call(t, lab(), error.Error, "serve", "--kubeconfig-out", path)
	assert.Equal(t, 1, code)
	assert.Equal(t,
		"lab: "+path+" exists and is not a kubeconfig of \"lab serve\"; choose another place with "+
			"--kubeconfig-out, or overwrite it with --force\n", stderr)
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, foreign, string(kept))

	first := startServe(t, "--kubeconfig-out", path, "--force")
	second := startServe(t, "--kubeconfig-out", path) // the file is that of a server now
	first.stop()
	require.NoError(t, <-first.ended)
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err, "the second one's stays")
	assert.Contains(t, second.stdout.String(), config.Host)
	added, err := kubeconfig.ReadFile(path)
	require.NoError(t, err)
	added.Contexts["mine"] = added.Contexts[added.CurrentContext]
	require.NoError(t, added.WriteFile(path))
	second.stop()
	require.NoError(t, <-second.ended)
	assert.FileExists(t, path, "the file has another context now")

	require.NoError(t, os.WriteFile(path, nil, 0o600))
	empty := startServe(t, "--kubeconfig-out", path)
	empty.stop()
	require.NoError(t, <-empty.ended)
	assert.NoFileExists(t, path)
}

// Two servers are two clusters in one KUBECONFIG: with the port in the names, no entry of the first
// file hides one of the second.
func TestServeKubeconfigsCanBeMerged(t *testing.T) {
	var paths, contexts []string
	for i, args := range [][]string{{"--insecure-http"}, nil, nil} {
		path := filepath.Join(t.TempDir(), "kubeconfig")
		s := startServe(t, append([]string{"--kubeconfig-out", path}, args...)...)
		own, err := kubeconfig.ReadFile(path)
		require.NoError(t, err, s.stdout)
		name := own.CurrentContext
		address, _, _ := strings.Cut(s.stdout.String(), "\n")
		assert.Equal(t, "orrery-"+address[strings.LastIndex(address, ":")+1:], name, "want the name to have the port")
		require.Contains(t, own.Contexts, name)
		assert.Equal(t, []string{name, name}, []string{own.Contexts[name].Cluster, own.Contexts[name].User})
		paths, contexts = append(paths, path), append(contexts, name)
		namespace := &api.Namespace{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("of-", i)}}
		namespaces := restclient.Typed[*api.Namespace](s.client(t), api.NamespacesResource, "")
		_, err = namespaces.Create(t.Context(), namespace, api.UpdateOptions{})
		require.NoError(t, err)
	}
	t.Setenv("KUBECONFIG", strings.Join(paths, string(os.PathListSeparator)))
	for i, name := range contexts {
		config, _, err := kubeconfig.Load(kubeconfig.Options{Context: name})
		require.NoError(t, err)
		client, err := restclient.New(config)
		require.NoError(t, err)
		t.Cleanup(client.Close)
		namespaces := restclient.Metadata(client, api.NamespacesResource, "")
		_, err = namespaces.Get(t.Context(), fmt.Sprint("of-", i), api.GetOptions{})
		assert.NoError(t, err, "want the context %s of the merged files to reach its own server", name)
	}
}

func TestServeMistakesGetOneClearSentence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for want, args := range map[string][]string{
		`unexpected argument "now"`:                  {"now"},
		`--listen must be an address with a port`:    {"--listen", "here"},
		`--listen must have a port from 0 to 65535`:  {"--listen", "127.0.0.1:http"},
		`--insecure-http is for the loopback interf`: {"--listen", "0.0.0.0:0", "--insecure-http"},
		`and --listen=:0 is open to others`:          {"--listen", ":0", "--insecure-http"},
		`--nodes must not be negative`:               {"--nodes", "-1"},
		`-v must not be negative`:                    {"-v=-1"},
		`--fault: `:                                  {"--fault", "nonsense"},
		`the kubeconfig cannot be written: `:         {"--kubeconfig-out", filepath.Join(file, "x")},

		"in use; choose another address with --listen, port 0 for a free one": {"--listen", taken.Addr().String()},
	} {
		code, stdout, stderr := programtest.Call(t, lab(), error.Error, append([]string{"serve"}, args...)...)
		assert.Equal(t, 1, code, args)
		assert.Empty(t, stdout, args)
		assert.Contains(t, stderr, want)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}

func TestHelpTeachesEveryFault(t *testing.T) {
	code, stdout, _ := programtest.Call(t, lab(), error.Error, "help", "faults")
	assert.Equal(t, 0, code)
	words := strings.Join(strings.Fields(stdout), " ")
	for _, kind := range faults.Catalogue() {
		assert.Contains(t, stdout, "\n  "+kind.Usage+"\n")
		assert.Contains(t, words, kind.Summary)
		assert.Contains(t, words, "Teaches: "+strings.Join(strings.Fields(kind.Teaches), " "))
	}
	for line := range strings.Lines(stdout) {
		if strings.HasPrefix(line, "      ") {
			assert.LessOrEqual(t, len([]rune(line)), 81, line)
		}
	}
}

// Log lines never contain secrets.
func TestTheLogHasNoSecrets(t *testing.T) {
	const canary = "canary-0123456789-abcdef"
	var out clustertest.Buffer
	logger := logs.New(logs.Config{Writer: &out, Verbosity: 3})
	hooks := served(logger)
	info := apiserver.RequestInfo{Method: "GET", URI: "/api?token=" + canary, UserAgent: "curl"}
	hooks.RequestStarted(info)
	hooks.RequestDone(info, apiserver.RequestResult{Code: 200})
	hooks.Panicked(info, "Authorization: Bearer "+canary, nil)
	assert.Equal(t, 3, strings.Count(out.String(), "/api?token="), out.String())
	assert.NotContains(t, out.String(), canary)
}

func TestShellQuoted(t *testing.T) {
	for path, want := range map[string]string{"/a/b-c.d": "/a/b-c.d", "/a b": "'/a b'", "/it's": `'/it'\''s'`} {
		assert.Equal(t, want, ShellQuoted(path), fmt.Sprint(path))
	}
}

// A server that cannot print its address is useless.
func TestServeEndsWhenItsAddressCannotBeShown(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	root := lab()
	root.SetArgs([]string{"serve"})
	root.SetOut(full)
	root.SetErr(&clustertest.Buffer{})
	program.Prepare(root)
	assert.EqualError(t, root.ExecuteContext(t.Context()),
		"the address of the server cannot be shown: write /dev/full: no space left on device")
}
