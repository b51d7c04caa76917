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

// What is read-only can be replaced by its owner.
func TestAKitHasWhatGitTracks(t *testing.T) {
	dir := labtest.Repository(t)
	require.NoError(t, os.Chmod(filepath.Join(dir, labtest.Page), 0o755))
	labtest.Track(t, dir)
	labtest.Write(t, filepath.Join(dir, "bin/lab"), "a program")
	archive := filepath.Join(t.TempDir(), "go1.26.0.linux-amd64.tar.gz")
	labtest.Write(t, archive, "Go")
	require.NoError(t, os.Chmod(archive, 0o444))
	file := filepath.Join(t.TempDir(), "kit.tar.gz")
	kit := course.Kit{Repository: dir, Archives: []string{archive}, File: file, Version: "v1"}
	require.NoError(t, course.WriteKit(t.Context(), kit))

	output, err := exec.Command("tar", "xzf", file, "-C", filepath.Dir(file)).CombinedOutput()
	require.NoError(t, err, string(output))
	there := filepath.Join(filepath.Dir(file), course.KitRoot)
	assert.True(t, course.IsKit(there))
	assert.False(t, course.IsKit(dir))
	for name, want := range map[string]string{"kit/version": "v1", labtest.Page: labtest.Reference,
		"kit/go/go1.26.0.linux-amd64.tar.gz": "Go"} {
		text, err := os.ReadFile(filepath.Join(there, name))
		require.NoError(t, err)
		assert.Equal(t, want, string(text), name)
	}
	assert.FileExists(t, filepath.Join(there, "START.md"))
	assert.NoFileExists(t, filepath.Join(there, "bin/lab"))
	for name, want := range map[string]os.FileMode{labtest.Page: 0o755, "kit/go/go1.26.0.linux-amd64.tar.gz": 0o644} {
		info, err := os.Stat(filepath.Join(there, name))
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode(), name)
	}
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

// A build constraint keeps the program out of this package.
func TestTheSetupOfAKitCompiles(t *testing.T) {
	output, err := exec.Command("go", "vet", "setup.go").CombinedOutput()
	assert.NoError(t, err, string(output))
}
