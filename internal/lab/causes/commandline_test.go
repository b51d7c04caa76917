package causes_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/causes"
	"orrery/restclient"
	"orrery/restclient/kubeconfig"
)

// programs is the built command, under the names that it may have.
func programs(t *testing.T) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "orrery")
	build := exec.Command("go", "build", "-o", binary, "orrery/cmd/orrery")
	build.Stderr = os.Stderr
	require.NoError(t, build.Run())
	plugin := filepath.Join(dir, "kubectl-why_terminating")
	require.NoError(t, os.Symlink(binary, plugin))
	return map[string][]string{"orrery why": {binary, "why"}, "kubectl why-terminating": {plugin}}
}

// prepared is a program to start without the environment's clusters.
func prepared(t *testing.T, command []string, args ...string) *exec.Cmd {
	process := exec.CommandContext(t.Context(), command[0], append(command[1:len(command):len(command)], args...)...)
	// Without the system's authorities: reading these many files may take longer than a handshake.
	process.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "SSL_CERT_FILE=" + os.DevNull,
		"SSL_CERT_DIR=" + t.TempDir()}
	return process
}

// run runs a program to its end.
func run(t *testing.T, command []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, messages strings.Builder
	process := prepared(t, command, args...)
	process.Stdout, process.Stderr = &out, &messages
	if err := process.Run(); !errors.As(err, new(*exec.ExitError)) {
		require.NoError(t, err)
	}
	return process.ProcessState.ExitCode(), out.String(), messages.String()
}

// server starts a server over TCP and returns its kubeconfig.
func server(t *testing.T, setUp func(*causes.World), faults ...string) (path string) {
	t.Helper()
	s, err := apiserver.New(apiserver.Config{NoKubelet: true})
	require.NoError(t, err)
	require.NoError(t, s.Start(t.Context()))
	t.Cleanup(func() { assert.NoError(t, s.Stop(context.Background())) })
	path = filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, s.WriteKubeconfig(path))
	if setUp != nil {
		config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
		require.NoError(t, err)
		client, err := restclient.New(config)
		require.NoError(t, err)
		defer client.Close()
		w := causes.NewWorld(t.Context(), client)
		setUp(w)
		require.NoError(t, w.Err())
	}
	for _, fault := range faults {
		_, err := s.Faults().Add(fault)
		require.NoError(t, err)
	}
	return path
}

// kubeconfigFor returns the kubeconfig of a server that needs no credentials.
func kubeconfigFor(t *testing.T, server string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, []byte(`{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"c","cluster":{"server":"`+server+`"}}],"users":[{"name":"u","user":{}}],
		"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]}`), 0o600))
	return path
}

// Answers of the command that need a server, with their exit codes, under both of its names. The
// others are tested beside the command.
func TestCommandLine(t *testing.T) {
	active := server(t, func(w *causes.World) { causes.Fixtures()[len(causes.Fixtures())-2].SetUp(w) })
	// A type that cannot be read keeps the cause unproven, however old the namespace is.
	deleted := server(t, causes.Audited, "unavailable:verb=list,resource=configmaps,user=kubernetes-admin")
	blind := server(t, causes.Audited, "forbid:verb=list,user=kubernetes-admin")
	refusing := server(t, causes.Audited, "forbid:verb=get,resource=namespaces,user=kubernetes-admin")
	absent := kubeconfigFor(t, "http://127.0.0.1:1")
	once := []string{"--no-wait"}
	for name, command := range programs(t) {
		for _, test := range []struct {
			what   string
			args   []string
			code   int
			stdout string
			stderr string
		}{
			{"an active one", []string{"shop", "--kubeconfig", active}, 0,
				`namespace "shop" is Active: its deletion was not requested`, ""},
			{"all, and none is terminating", []string{"-A", "--kubeconfig", active}, 0,
				"no namespace is Terminating", ""},
			{"watching all, and none is terminating", []string{"-A", "-w", "--kubeconfig", active}, 0,
				"no namespace is Terminating", ""},
			{"watching one that is not terminating", []string{"shop", "-w", "--kubeconfig", active}, 0,
				"is Active", ""},
			{"a wrong context", []string{"shop", "--kubeconfig", active, "--context", "nowhere"}, 1, "", "nowhere"},
			{"no kubeconfig at all", []string{"shop"}, 1, "", "kubeconfig"},
			{"no right to list, and all", []string{"-A", "--kubeconfig", blind}, 1, "",
				`"orrery rbac --for why --user NAME" prints the role`},
			{"no connection, and all", []string{"-A", "--kubeconfig", absent}, 1, "", "cannot be reached"},
			{"no right to get it", append(once, "shop", "--kubeconfig", refusing), 3, "C30", ""},
			{"no right to list anything", append(once, "shop", "--kubeconfig", blind), 3, "C30", ""},
			{"a type that cannot be read", append(once, "shop", "--kubeconfig", deleted), 3, "unread: configmaps", ""},
			{"all of them", append(once, "-A", "--kubeconfig", deleted), 3, "C16?", ""},
			{"the commands for all of them", append(once, "-A", "--fix", "--kubeconfig", deleted), 3,
				" describe namespaces shop\n", ""},
		} {
			t.Run(name+"/"+test.what, func(t *testing.T) {
				code, stdout, stderr := run(t, command, test.args...)
				for tries := 0; tries < 20 && strings.Contains(stderr, "did not answer in time"); tries++ {
					code, stdout, stderr = run(t, command, test.args...) // this machine was late
				}
				assert.Equal(t, test.code, code, stdout+stderr)
				if test.stdout == "" {
					assert.Empty(t, stdout)
				}
				assert.Contains(t, stdout, test.stdout)
				assert.Contains(t, stderr, test.stderr)
			})
		}
	}
}

const (
	ofNamespace  = "/api/v1/namespaces/" + causes.Namespace
	ofConfigMaps = ofNamespace + "/configmaps"
	ofDiscovery  = "/readyz"
)

// middle is a server at which something happens in the middle of an examination.
type middle struct {
	http.Server
	kubeconfig string
	memory     http.Handler
	ended      atomic.Bool

	mu      sync.Mutex
	process *os.Process // that examines
}

// newMiddle starts a server on which the namespace is terminating. From the nth request of a path
// on, happens answers the requests of that path.
func newMiddle(t *testing.T, path string, nth int, happens func(*middle, http.ResponseWriter, *http.Request)) *middle {
	t.Helper()
	server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop(context.Background())) })
	m := &middle{memory: server.Handler()}
	asked := 0
	m.ErrorLog = log.New(io.Discard, "", 0)
	m.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.ended.Load() {
			panic(http.ErrAbortHandler) // Close misses a connection that is being accepted
		}
		if r.URL.Path != path || r.Method != http.MethodGet {
			m.memory.ServeHTTP(w, r)
			return
		}
		m.mu.Lock()
		asked++
		now := asked >= nth
		m.mu.Unlock()
		if now {
			happens(m, w, r)
		} else {
			m.memory.ServeHTTP(w, r)
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() { _ = m.Serve(listener) })
	t.Cleanup(serving.Wait)
	t.Cleanup(func() { _ = m.Close() })
	m.kubeconfig = kubeconfigFor(t, "http://"+listener.Addr().String())

	memory := httptest.NewServer(m.memory)
	defer memory.Close()
	client, err := restclient.New(restclient.Config{Host: memory.URL})
	require.NoError(t, err)
	defer client.Close()
	w := causes.NewWorld(t.Context(), client)
	causes.Audited(w)
	require.NoError(t, w.Err())
	return m
}

// send sends a request past the middle.
func (m *middle) send(method, path, kind, body string) {
	r := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	m.memory.ServeHTTP(httptest.NewRecorder(), r)
}

// remove removes the namespace, which can be done once.
func (m *middle) remove() {
	m.send(http.MethodPatch, ofNamespace, "application/merge-patch+json", `{"metadata":{"finalizers":null}}`)
	m.send(http.MethodPut, ofNamespace+"/finalize", "application/json",
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"},"spec":{"finalizers":[]}}`)
}

func goes(m *middle, w http.ResponseWriter, r *http.Request) {
	m.remove()
	m.memory.ServeHTTP(w, r)
}

func isCreatedAgain(m *middle, w http.ResponseWriter, r *http.Request) {
	m.remove()
	m.send(http.MethodPost, "/api/v1/namespaces", "application/json", `{"metadata":{"name":"shop"}}`)
	m.memory.ServeHTTP(w, r)
}

// ends ends the server, and all its connections with it. How many requests it has answered by
// then, and which error the others get, depends on how busy the machine is.
func ends(m *middle, _ http.ResponseWriter, _ *http.Request) {
	m.ended.Store(true)
	_ = m.Close()
}

// isInterrupted is Ctrl-C while the answer is waited for.
func isInterrupted(m *middle, _ http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	process := m.process
	m.mu.Unlock()
	_ = process.Signal(os.Interrupt)
	<-r.Context().Done()
}

// What happens in the middle of an examination has its exit code and one plain sentence.
func TestInTheMiddle(t *testing.T) {
	command := programs(t)["orrery why"]
	for what, test := range map[string]struct {
		args    []string
		path    string
		nth     int
		happens func(*middle, http.ResponseWriter, *http.Request)
		code    int
		stdout  string
		stderr  string
	}{
		"it goes": {nil, ofNamespace, 2, goes, 0,
			`namespace "shop" was removed while it was examined`, ""},
		"it goes, watched": {[]string{"-w"}, ofNamespace, 2, goes, 0,
			`namespace "shop" was removed while it was examined`, ""},
		"it goes, all watched": {[]string{"-A", "-w"}, ofNamespace, 2, goes, 0,
			"no namespace is Terminating", ""},
		"it is created again": {nil, ofNamespace, 2, isCreatedAgain, 0,
			`namespace "shop" was removed while it was examined`, ""},
		"it is created again, watched": {[]string{"-w"}, ofNamespace, 2, isCreatedAgain, 0,
			`namespace "shop" was removed while it was examined`, ""},
		"the server ends at once":         {nil, ofNamespace, 1, ends, 1, "", "http://127.0.0.1"},
		"the server ends in discovery":    {nil, ofDiscovery, 1, ends, 3, "0 types read, unread: everything (the ", ""},
		"the server ends in a list":       {nil, ofConfigMaps, 1, ends, 3, "unread: configmaps", ""},
		"the server ends before sample 2": {nil, ofNamespace, 2, ends, 3, "the second sample failed: ", ""},
		"the server ends, all": {[]string{"-A"}, ofNamespace, 2, ends, 3,
			"The examination ended early: the second sample failed: ", ""},
		"the server ends, watched": {[]string{"-w"}, ofNamespace, 3, ends, 1, "Namespace shop",
			"http://127.0.0.1"},
		"the server ends, all watched": {[]string{"-A", "-w"}, ofNamespace, 3, ends, 1, "Namespace shop",
			"http://127.0.0.1"},
		"Ctrl-C":                     {nil, ofConfigMaps, 1, isInterrupted, 130, "", ""},
		"Ctrl-C before it is read":   {nil, ofNamespace, 1, isInterrupted, 130, "", ""},
		"Ctrl-C between the samples": {nil, ofNamespace, 2, isInterrupted, 130, "", ""},
		"Ctrl-C, all":                {[]string{"-A"}, ofNamespace, 1, isInterrupted, 130, "", ""},
		"Ctrl-C, watched":            {[]string{"-w"}, ofNamespace, 3, isInterrupted, 130, "Namespace shop", ""},
		"Ctrl-C, all watched": {[]string{"-A", "-w"}, ofNamespace, 3, isInterrupted, 130,
			"Namespace shop", ""},
		"Ctrl-C, watched with one sample": {[]string{"-w", "--no-wait"}, ofNamespace, 2, isInterrupted, 130,
			"Namespace shop", ""},
	} {
		t.Run(what, func(t *testing.T) {
			m := newMiddle(t, test.path, test.nth, test.happens)
			args := append([]string{"--kubeconfig", m.kubeconfig, "--interval", "1ms"}, test.args...)
			if len(test.args) == 0 || test.args[0] != "-A" {
				args = append(args, causes.Namespace)
			}
			var out, messages strings.Builder
			process := prepared(t, command, args...)
			process.Stdout, process.Stderr = &out, &messages
			m.mu.Lock()
			err := process.Start()
			m.process = process.Process
			m.mu.Unlock()
			require.NoError(t, err)
			_ = process.Wait()
			shown := out.String() + messages.String()
			t.Log("\n" + shown)
			assert.Equal(t, test.code, process.ProcessState.ExitCode(), shown)
			assert.Contains(t, out.String(), test.stdout)
			assert.Contains(t, messages.String(), test.stderr)
			if test.stdout == "" {
				assert.Empty(t, out.String())
			}
			sentences := strings.Count("\n"+messages.String(), "\norrery: ") // beside warnings about a slow machine
			assert.Equal(t, min(1, len(test.stderr)), sentences, "one sentence or none: %s", shown)
			if test.code != 0 {
				assert.NotContains(t, out.String(), "stuck; ", "nothing is proven")
			}
		})
	}
}
