package course_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course"
	"orrery/internal/lab/course/labtest"
)

// unpack unpacks a kit and returns the repository in it.
func unpack(t *testing.T, file string) (repository string) {
	t.Helper()
	dir := t.TempDir()
	output, err := exec.Command("tar", "xzf", file, "-C", dir).CombinedOutput()
	require.NoError(t, err, string(output))
	return filepath.Join(dir, course.KitRoot)
}

// What is read-only can be replaced by its owner.
func TestAKitHasWhatGitTracks(t *testing.T) {
	dir := labtest.Repository(t)
	labtest.Track(t, dir)
	labtest.Write(t, filepath.Join(dir, "bin/lab"), "a program")
	labtest.Write(t, filepath.Join(dir, labtest.Page), "package gear // edited\n")
	require.NoError(t, os.Chmod(filepath.Join(dir, labtest.Page), 0o755))
	require.NoError(t, os.Remove(filepath.Join(dir, "gear/other.go")))
	archive := filepath.Join(t.TempDir(), "go1.26.0.linux-amd64.tar.gz")
	labtest.Write(t, archive, "Go")
	require.NoError(t, os.Chmod(archive, 0o444))
	file := filepath.Join(t.TempDir(), "kit.tar.gz")
	kit := course.Kit{Repository: dir, Archives: []string{archive}, File: file, Version: "v1"}
	require.NoError(t, course.WriteKit(t.Context(), kit))
	assert.NoFileExists(t, course.PartialKit(file))

	there := unpack(t, file)
	assert.True(t, course.IsKit(there))
	assert.False(t, course.IsKit(dir))
	version, err := os.ReadFile(filepath.Join(there, "kit/version"))
	require.NoError(t, err)
	assert.Equal(t, "v1", string(version))
	assert.FileExists(t, filepath.Join(there, "START.md"))
	page, err := os.ReadFile(filepath.Join(there, labtest.Page))
	require.NoError(t, err)
	assert.Equal(t, "package gear // edited\n", string(page), "an edit that is not committed")
	info, err := os.Stat(filepath.Join(there, labtest.Page))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o755), info.Mode(), "a script can be run")
	assert.NoFileExists(t, filepath.Join(there, "gear/other.go"), "what was removed stays away")
	assert.FileExists(t, filepath.Join(there, "kit/go/go1.26.0.linux-amd64.tar.gz"))
	assert.NoFileExists(t, filepath.Join(there, "bin/lab"))
	info, err = os.Stat(filepath.Join(there, "kit/go/go1.26.0.linux-amd64.tar.gz"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), info.Mode())
}

func TestAnInterruptedKitLeavesNoFile(t *testing.T) {
	dir, into := labtest.Repository(t), t.TempDir()
	labtest.Track(t, dir)
	kit := course.Kit{Repository: dir, File: filepath.Join(into, "kit.tar.gz"), Version: "v1"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, course.WriteKit(ctx, kit), context.Canceled)
	kit.Archives = []string{filepath.Join(into, "nothing")}
	require.ErrorIs(t, course.WriteKit(t.Context(), kit), os.ErrNotExist)
	left, err := filepath.Glob(filepath.Join(into, "kit*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestWithoutGitThereIsNoKit(t *testing.T) {
	kit := course.Kit{Repository: labtest.Repository(t), File: filepath.Join(t.TempDir(), "kit")}
	assert.ErrorIs(t, course.WriteKit(t.Context(), kit), course.ErrNoClone)
}

// A build constraint keeps the program out of this package.
func TestTheSetupOfAKitCompiles(t *testing.T) {
	output, err := exec.Command("go", "vet", "setup.go").CombinedOutput()
	assert.NoError(t, err, string(output))
}
