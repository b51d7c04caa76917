package e2e

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

// dockerfile holds the part of the image's recipe that can be followed without a container engine.
type dockerfile struct {
	build      string            // the commands that build the program
	args       map[string]string // build arguments with their defaults
	base       string            // the base image
	entrypoint []string
	command    []string
	user       string
}

// buildOutput is where the build stage puts the program.
const buildOutput = "/out/orrery"

func readDockerfile(t *testing.T) dockerfile {
	t.Helper()
	text, err := os.ReadFile(repositoryFile(t, "Dockerfile"))
	require.NoError(t, err)
	d := dockerfile{args: map[string]string{}}
	joined := strings.ReplaceAll(string(text), "\\\n", " ")
	for line := range strings.Lines(joined) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch instruction {
		case "FROM":
			d.base = strings.Fields(rest)[0]
		case "ARG":
			for argument := range strings.FieldsSeq(rest) {
				name, value, _ := strings.Cut(argument, "=")
				d.args[name] = value
			}
		case "RUN":
			d.build += rest + "\n"
		case "USER":
			d.user = rest
		case "ENTRYPOINT":
			require.NoError(t, json.Unmarshal([]byte(rest), &d.entrypoint))
		case "CMD":
			require.NoError(t, json.Unmarshal([]byte(rest), &d.command))
		}
	}
	require.Contains(t, d.build, "-o "+buildOutput)
	return d
}

// repositoryFile returns the path of a file of the repository.
func repositoryFile(t *testing.T, name string) string {
	t.Helper()
	path, err := controlplane.FindUp(name)
	require.NoError(t, err)
	return path
}

// buildContext copies the files that .dockerignore does not exclude, as a builder does.
func buildContext(t *testing.T) string {
	t.Helper()
	ignore := repositoryFile(t, ".dockerignore")
	text, err := os.ReadFile(ignore)
	require.NoError(t, err)
	var included, excluded []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line == "*" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "!"):
			included = append(included, line[1:])
		default:
			name, anywhere := strings.CutPrefix(line, "**/")
			require.True(t, anywhere, "this test does not know how to read %q", line)
			excluded = append(excluded, name)
		}
	}
	root, to := filepath.Dir(ignore), t.TempDir()
	for _, top := range included {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			for _, pattern := range excluded {
				if matched, err := filepath.Match(pattern, entry.Name()); err != nil || matched {
					if entry.IsDir() {
						return filepath.SkipDir
					}
					return err
				}
			}
			relative, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			target := filepath.Join(to, relative)
			if entry.IsDir() {
				return os.MkdirAll(target, 0o755)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(target, data, 0o644)
		})
		require.NoError(t, err)
	}
	return to
}

// buildProgram does the work of the build stage in a context, and returns the program's path.
func buildProgram(t *testing.T, recipe dockerfile, sources, version string) string {
	t.Helper()
	output := filepath.Join(t.TempDir(), "orrery")
	command := exec.CommandContext(t.Context(), "sh", "-ec", strings.ReplaceAll(recipe.build, buildOutput, output))
	command.Dir = sources
	command.Env = append(os.Environ(), "GOFLAGS=", "VERSION="+version)
	for _, name := range []string{"TARGETOS", "TARGETARCH"} {
		command.Env = append(command.Env, name+"="+recipe.args[name])
	}
	said, err := command.CombinedOutput()
	require.NoError(t, err, "%s", said)
	return output
}

// Builds of the same sources give the same program: directory and history leave no trace in it.
func TestImageIsReproducible(t *testing.T) {
	t.Parallel()
	recipe := readDockerfile(t)
	here, elsewhere := buildContext(t), filepath.Join(t.TempDir(), "another", "checkout")
	require.NoError(t, os.CopyFS(elsewhere, os.DirFS(here)))
	one, err := os.ReadFile(buildProgram(t, recipe, here, "v1.2.3"))
	require.NoError(t, err)
	other, err := os.ReadFile(buildProgram(t, recipe, elsewhere, "v1.2.3"))
	require.NoError(t, err)
	assert.True(t, bytes.Equal(one, other), "two builds differ: %d and %d bytes", len(one), len(other))
	assert.NotContains(t, string(one), filepath.Dir(repositoryFile(t, "Dockerfile"))+"/",
		"no path of this machine is in the program")
}

// A builder fills in these arguments only if they have no default (docker/buildx#510). With a
// default, an image for another platform would hold a program that does not run there.
func TestImageIsForThePlatformThatWasAskedFor(t *testing.T) {
	t.Parallel()
	recipe := readDockerfile(t)
	for _, name := range []string{"TARGETOS", "TARGETARCH"} {
		assert.Contains(t, recipe.args, name)
		assert.Empty(t, recipe.args[name], name)
	}
	assert.Contains(t, recipe.build, "GOOS=$TARGETOS GOARCH=$TARGETARCH")
}

// The image holds the program alone, so the program must need nothing else.
func TestImageIsOneStaticProgram(t *testing.T) {
	t.Parallel()
	recipe := readDockerfile(t)
	assert.Equal(t, "scratch", recipe.base)
	assert.Equal(t, []string{"/orrery"}, recipe.entrypoint)
	assert.Equal(t, []string{"run"}, recipe.command)
	assert.Regexp(t, regexp.MustCompile(`^[1-9]\d+:[1-9]\d+$`), recipe.user,
		"a numeric user, so that runAsNonRoot can be checked")

	program := buildProgram(t, recipe, buildContext(t), "v1.2.3")
	file, err := elf.Open(program)
	require.NoError(t, err)
	defer file.Close()
	for _, segment := range file.Progs {
		assert.NotEqual(t, elf.PT_INTERP, segment.Type, "the program needs a dynamic linker")
	}
	libraries, err := file.ImportedLibraries()
	assert.NoError(t, err)
	assert.Empty(t, libraries)

	c := newContainer(t, program, nil)
	said, err := c.command(t.Context(), nil, "version", "-o", "json").Output()
	require.NoError(t, err)
	assert.Contains(t, string(said), `"v1.2.3"`)
}

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
