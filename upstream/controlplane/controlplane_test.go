package controlplane

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// These tests run the genuine components in bin/controlplane.

// waitTimeout is reached only by a failing test.
const waitTimeout = 10 * time.Minute

// launchForTest starts a control plane. At the end of the test it must not have failed, and is
// stopped.
func launchForTest(t *testing.T, config Config) *ControlPlane {
	t.Helper()
	config.Log = t.Output()
	cp, err := Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, cp.Stop()) })
	return cp
}

// pids returns the process id of each running component.
func (cp *ControlPlane) pids() map[string]int {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	pids := map[string]int{}
	for name, process := range cp.processes {
		select {
		case <-process.Done():
		default:
			pids[name] = process.PID()
		}
	}
	return pids
}

func clientFor(t *testing.T, kubeconfig string) *kubernetes.Clientset {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// TestControlPlane runs the checks that do not disturb the control plane.
func TestControlPlane(t *testing.T) {
	cp := launchForTest(t, Config{
		FakeNodes:   2,
		AuditPolicy: "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n",
	})
	client := clientFor(t, cp.Kubeconfig())

	t.Run("all components run", func(t *testing.T) {
		pids := cp.pids()
		for _, name := range []string{Etcd, APIServer, ControllerManager, Scheduler, Kwok} {
			assert.Contains(t, pids, name)
			assert.FileExists(t, cp.LogFile(name))
		}
	})
	t.Run("the version is stamped", func(t *testing.T) {
		version, err := client.Discovery().ServerVersion()
		require.NoError(t, err)
		assert.Regexp(t, `^v1\.\d+\.\d+$`, version.GitVersion)
		assert.True(t, strings.HasPrefix(version.GitVersion, "v"+version.Major+"."+version.Minor+"."), "%v", version)
	})
	t.Run("the default namespace is usable at once", func(t *testing.T) {
		_, err := client.CoreV1().ServiceAccounts("default").Get(t.Context(), "default", metav1.GetOptions{})
		require.NoError(t, err)
		_, err = client.CoreV1().ConfigMaps("default").Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
		require.NoError(t, err)
	})
	t.Run("a user without roles may do nothing", func(t *testing.T) { testStranger(t, cp) })
	t.Run("the audit log names user and request", func(t *testing.T) {
		data, err := os.ReadFile(cp.AuditLog())
		require.NoError(t, err)
		assert.Contains(t, string(data), `"username":"admin"`)
	})
	t.Run("a second API server is refused", func(t *testing.T) {
		assert.Error(t, cp.StartAPIServer(t.Context()))
	})
}

func testStranger(t *testing.T, cp *ControlPlane) {
	stranger, err := cp.KubeconfigFor("system:serviceaccount:somewhere:jane", "readers")
	require.NoError(t, err)
	_, err = clientFor(t, stranger).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)

	master, err := cp.KubeconfigFor("system:serviceaccount:somewhere:jane", "system:masters")
	require.NoError(t, err)
	assert.NotEqual(t, stranger, master, "each call writes a new file")
	_, err = clientFor(t, master).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
}

func TestComponentThatDies(t *testing.T) {
	cp, err := Start(t.Context(), Config{Log: t.Output()})
	require.NoError(t, err)
	defer cp.Stop()
	require.NoError(t, syscall.Kill(cp.pids()[ControllerManager], syscall.SIGKILL))
	<-cp.Failed()

	var exit *ExitError
	require.ErrorAs(t, cp.Err(), &exit)
	assert.Equal(t, ControllerManager, exit.Name)
	assert.NotEmpty(t, exit.Tail)
	assert.ErrorAs(t, cp.Stop(), &exit, "Stop returns the unexpected exit")
}

func TestStopLeavesNothing(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	cp, err := Start(t.Context(), Config{FakeNodes: 1, Log: t.Output()})
	require.NoError(t, err)
	pids := cp.pids()
	require.Len(t, pids, 5)
	require.NoError(t, cp.Stop())

	for name, pid := range pids {
		assert.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, name)
	}
	assert.Empty(t, cp.pids())
	assert.NoDirExists(t, cp.Dir())
	assert.NoError(t, cp.Stop(), "stopping twice is harmless")
	goleak.VerifyNone(t, leaks)
}

func TestStartThatFails(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	_, err := Start(t.Context(), Config{APIServerArgs: []string{"--no-such-flag"}, Log: t.Output()})
	var exit *ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, APIServer, exit.Name)
	assert.Contains(t, exit.Tail, "no-such-flag")

	entries, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, entries, "nothing is left behind")
	goleak.VerifyNone(t, leaks)
}

func TestStartThatIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Start(ctx, Config{Log: t.Output()})
	assert.ErrorIs(t, err, context.Canceled)
}
