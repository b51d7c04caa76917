//go:build unix

package demo

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// suspended is set in the child of the test below, which is the program that is suspended.
const suspended = "ORRERY_TEST_SUSPENDED"

// Ctrl-Z restores the terminal before the program stops; the program takes the terminal again
// when it continues. A stopped program cannot observe itself, so the test watches a child.
func TestSuspension(t *testing.T) {
	if directory := os.Getenv(suspended); directory != "" {
		mark := func(name string) { _ = os.WriteFile(filepath.Join(directory, name), nil, 0o600) }
		raised := make(chan struct{})
		release := suspendable(func() { mark("lowered") }, func() { close(raised) })
		mark("ready")
		<-raised
		release()
		mark("raised")
		return
	}
	directory := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^TestSuspension$")
	child.Env = append(os.Environ(), suspended+"="+directory)
	require.NoError(t, child.Start())
	defer child.Process.Kill()
	appears := func(name string) {
		require.Eventually(t, func() bool {
			_, err := os.Stat(filepath.Join(directory, name))
			return err == nil
		}, 10*time.Minute, time.Millisecond)
	}
	appears("ready")
	require.NoError(t, child.Process.Signal(syscall.SIGTSTP))
	appears("lowered")
	var status syscall.WaitStatus
	_, err := syscall.Wait4(child.Process.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped())
	assert.NoFileExists(t, filepath.Join(directory, "raised"))
	require.NoError(t, child.Process.Signal(syscall.SIGCONT))
	appears("raised")
	require.NoError(t, child.Wait())
}
