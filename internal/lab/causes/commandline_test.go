package causes_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	process.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "SSL_CERT_FILE=" + os.DevNull, "SSL_CERT_DIR=" + t.TempDir()}
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
			{"an active one", []string{"shop", "--kubeconfig", active}, 0, `namespace "shop" is Active: its deletion was not requested`, ""},
			{"all, and none is terminating", []string{"-A", "--kubeconfig", active}, 0, "no namespace is Terminating", ""},
			{"watching all, and none is terminating", []string{"-A", "-w", "--kubeconfig", active}, 0, "no namespace is Terminating", ""},
			{"watching one that is not terminating", []string{"shop", "-w", "--kubeconfig", active}, 0, "is Active", ""},
			{"a wrong context", []string{"shop", "--kubeconfig", active, "--context", "nowhere"}, 1, "", "nowhere"},
			{"no kubeconfig at all", []string{"shop"}, 1, "", "kubeconfig"},
			{"no right to list, and all", []string{"-A", "--kubeconfig", blind}, 1, "", `"orrery rbac --for why --user NAME" prints the role`},
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
