package controlplane

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// startShell runs a shell script as a Process.
func startShell(t *testing.T, script string) *Process {
	t.Helper()
	p, err := StartProcess(ProcessConfig{
		Name:    "shell",
		Path:    "/bin/sh",
		Args:    []string{"-c", script},
		LogFile: filepath.Join(t.TempDir(), "log"),
	})
	require.NoError(t, err)
	return p
}

func TestProcessThatFails(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	p := startShell(t, "echo hello; echo and good-bye >&2; exit 3")
	<-p.Done()

	assert.Equal(t, 3, p.ExitCode())
	var exit *ExitError
	require.ErrorAs(t, p.Err(), &exit)
	assert.Equal(t, "shell", exit.Name)
	assert.Equal(t, "hello\nand good-bye", exit.Tail)
	var cause *exec.ExitError
	require.ErrorAs(t, p.Err(), &cause)
	assert.Equal(t, 3, cause.ExitCode())
}

func TestProcessThatEndsByItself(t *testing.T) {
	p := startShell(t, "exit 0")
	<-p.Done()

	var exit *ExitError
	require.ErrorAs(t, p.Err(), &exit, "a server that ends is unexpected even with exit code 0")
	assert.NoError(t, exit.Err)
	p.Stop(t.Context())
	assert.Error(t, p.Err(), "being stopped later does not make it expected")
}

func TestProcessThatIsStopped(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	// "sleep" is a child of the shell: wait lets the trap run at once, which kills it.
	p := startShell(t, `trap 'kill $!; exit 7' TERM; sleep 1000 & echo ready; wait`)
	awaitOutput(t, p, "ready")
	assert.NoError(t, p.Err(), "it runs")
	p.Stop(t.Context())

	assert.Equal(t, 7, p.ExitCode(), "it handled SIGTERM")
	assert.NoError(t, p.Err(), "the end was requested")
	p.Stop(t.Context())
	p.Kill()
}

func TestProcessThatDoesNotListen(t *testing.T) {
	p := startShell(t, `trap '' TERM; echo ready; while :; do sleep 0.01; done`)
	awaitOutput(t, p, "ready")
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the grace period is over
	p.Stop(ctx)

	assert.Equal(t, -1, p.ExitCode(), "a signal ended it")
	assert.NoError(t, p.Err())
}

func TestProcessHasItsOwnGroup(t *testing.T) {
	p := startShell(t, "sleep 1000")
	defer p.Kill()
	group, err := syscall.Getpgid(p.PID())
	require.NoError(t, err)
	assert.NotEqual(t, syscall.Getpgrp(), group, "Ctrl-C in a terminal must reach the parent only")
}

func TestProcessThatCannotStart(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	dir := t.TempDir()
	_, err := StartProcess(ProcessConfig{Name: "nothing", Path: filepath.Join(dir, "nothing"),
		LogFile: filepath.Join(dir, "log")})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = StartProcess(ProcessConfig{Name: "nothing", Path: "/bin/sh",
		LogFile: filepath.Join(dir, "missing", "log")})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestTailIsShort(t *testing.T) {
	p := startShell(t, "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo line $i; done")
	<-p.Done()
	lines := strings.Split(p.Tail(), "\n")
	assert.Len(t, lines, tailLines)
	assert.Equal(t, "line 100", lines[len(lines)-1])
}

// awaitOutput blocks until the process has printed a line.
func awaitOutput(t *testing.T, p *Process, line string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(p.Tail(), line) }, waitTimeout, pollInterval)
}

// Start retries a server that exits during its start, but not one with wrong arguments.
func TestServerThatGivesUpIsRecognised(t *testing.T) {
	for script, want := range map[string]bool{"exit 255": true, "exit 1": false, "exit 0": false, "kill -9 $$": false} {
		p := startShell(t, script)
		<-p.Done()
		var exit *ExitError
		require.ErrorAs(t, p.Err(), &exit)
		assert.False(t, gaveUp(fmt.Errorf("control plane: %w", exit)),
			"it is not the API server that ended with %q", script)
		exit.Name = APIServer
		assert.Equal(t, want, gaveUp(fmt.Errorf("control plane: %w", exit)), script)
	}
	assert.False(t, gaveUp(context.Canceled))
}

func TestControllers(t *testing.T) {
	for name, test := range map[string]struct {
		config Config
		want   []string
	}{
		"default": {
			want: append(DefaultControllers(), "-namespace-controller"),
		},
		"with the namespace controller": {
			config: Config{NamespaceController: true},
			want:   append(DefaultControllers(), "namespace-controller"),
		},
		"all but the namespace controller": {
			config: Config{Controllers: []string{"*"}},
			want:   []string{"*", "-namespace-controller"},
		},
		"NamespaceController alone decides": {
			config: Config{Controllers: []string{"namespace-controller", "*"}},
			want:   []string{"*", "-namespace-controller"},
		},
		"also when the list excludes it": {
			config: Config{Controllers: []string{"-namespace-controller", "*"}, NamespaceController: true},
			want:   []string{"*", "namespace-controller"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, test.config.controllers())
		})
	}
}

func TestRuns(t *testing.T) {
	assert.True(t, Config{}.runs(serviceAccountController))
	assert.False(t, Config{}.runs(namespaceController))
	assert.True(t, Config{NamespaceController: true}.runs(namespaceController))
	assert.False(t, Config{Controllers: []string{}}.runs(serviceAccountController),
		"an empty list is not the default one")
	assert.True(t, Config{Controllers: []string{"*"}}.runs(serviceAccountController))
	assert.False(t, Config{Controllers: []string{"-serviceaccount-controller", "*"}}.runs(serviceAccountController))
}

func TestReservedPorts(t *testing.T) {
	seen := map[port]bool{}
	for range 50 {
		p, err := reservePort()
		require.NoError(t, err)
		assert.False(t, seen[p], "port %d was given twice", p)
		seen[p] = true
		assert.GreaterOrEqual(t, int(p), firstPort)
		assert.Less(t, int(p), lastPort)
		listener, err := net.Listen("tcp", p.address())
		require.NoError(t, err, "a reserved port is free to listen on")
		require.NoError(t, listener.Close())
	}
}
