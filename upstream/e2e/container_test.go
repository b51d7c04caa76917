package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// container is a read-only root file system with the image's program and, if wanted, the files that
// a kubelet mounts.
type container struct {
	root     string
	uid, gid int
}

// newContainer returns a new container with a program and files by their absolute paths.
func newContainer(t *testing.T, program string, files map[string]string) *container {
	t.Helper()
	recipe := readDockerfile(t)
	user, group, found := strings.Cut(recipe.user, ":")
	require.True(t, found)
	c := &container{root: t.TempDir()}
	var err error
	c.uid, err = strconv.Atoi(user)
	require.NoError(t, err)
	c.gid, err = strconv.Atoi(group)
	require.NoError(t, err)

	for path, content := range files {
		place := filepath.Join(c.root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(place), 0o755))
		require.NoError(t, os.WriteFile(place, []byte(content), 0o444))
	}
	data, err := os.ReadFile(program)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(c.root, recipe.entrypoint[0]), data, 0o555))
	require.NoError(t, os.Chmod(c.root, 0o555))
	t.Cleanup(func() { _ = os.Chmod(c.root, 0o755) }) // so that other users than root can remove it
	return c
}

// command returns the program in the container: with its root, as the image's user and with only
// this environment. Without root rights the command uses a user namespace.
func (c *container) command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "/orrery", args...)
	command.Dir = "/"
	command.Env = append([]string{"PATH=/"}, env...)
	command.SysProcAttr = &syscall.SysProcAttr{
		Chroot:     c.root,
		Credential: &syscall.Credential{Uid: uint32(c.uid), Gid: uint32(c.gid)},
		Pdeathsig:  syscall.SIGKILL,
	}
	if os.Geteuid() != 0 {
		command.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: c.uid, HostID: os.Getuid(), Size: 1}}
		command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: c.gid, HostID: os.Getgid(), Size: 1}}
		command.SysProcAttr.Credential.NoSetGroups = true
	}
	return command
}
