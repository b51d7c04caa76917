package controlplane

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// parentVariable makes the test binary a parent that starts a child in the given directory and
// never stops it.
const parentVariable = "ORRERY_TEST_PARENT_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentVariable); dir != "" {
		neglectfulParent(dir)
	}
	os.Exit(m.Run())
}

// neglectfulParent starts a child, prints its process id and waits to be killed.
func neglectfulParent(dir string) {
	child, err := StartProcess(ProcessConfig{
		Name: "child", Path: "/bin/sleep", Args: []string{"1000"}, LogFile: filepath.Join(dir, "log"),
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(child.PID())
	<-child.Done()
	os.Exit(1)
}

// A killed test binary must not leave a control plane behind.
func TestChildDiesWithItsParent(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentVariable+"="+t.TempDir())
	output, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err, line)
	require.True(t, alive(child))

	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait(), "it was killed")
	require.Eventually(t, func() bool { return !alive(child) }, waitTimeout, pollInterval)
}

// alive reports whether a process exists and is not a zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}
