package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course/labtest"
)

// clone returns a git clone of the small repository, and a file that git does not track.
func clone(t *testing.T) string {
	t.Helper()
	dir := labtest.Repository(t)
	for _, arguments := range [][]string{{"init", "-q"}, {"add", "."}} {
		command := exec.Command("git", arguments...)
		command.Dir = dir
		output, err := command.CombinedOutput()
		require.NoError(t, err, string(output))
	}
	labtest.Write(t, filepath.Join(dir, "bin/lab"), "a program")
	return dir
}

// unpack unpacks a kit and returns the repository in it.
func unpack(t *testing.T, file string) string {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	require.NoError(t, err)
	archive := tar.NewReader(zipped)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(dir, Root)
		}
		require.NoError(t, err)
		text, err := io.ReadAll(archive)
		require.NoError(t, err)
		labtest.Write(t, filepath.Join(dir, header.Name), string(text))
	}
}

func TestAKitHasWhatGitTracks(t *testing.T) {
	dir := clone(t)
	archive := filepath.Join(t.TempDir(), "go1.26.0.linux-amd64.tar.gz")
	labtest.Write(t, archive, "Go")
	file := filepath.Join(t.TempDir(), "kit.tar.gz")
	parts, err := Write(t.Context(), Config{Repository: dir, Archives: []string{archive}, File: file, Version: "v1"})
	require.NoError(t, err)
	names := []string{}
	for _, part := range parts {
		names = append(names, part.Name)
	}
	assert.Equal(t, []string{RepositoryPart, GoPart}, names, "the small repository needs no module")
	assert.NoFileExists(t, PartialFile(file))

	there := unpack(t, file)
	kit, err := Read(there)
	require.NoError(t, err)
	assert.Equal(t, "v1", kit.Version)
	start, err := os.ReadFile(filepath.Join(there, "START.md"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(start), "`kit/go`"), "in both languages")
	assert.FileExists(t, filepath.Join(there, labtest.Page))
	assert.FileExists(t, filepath.Join(there, "kit/go/go1.26.0.linux-amd64.tar.gz"))
	assert.NoFileExists(t, filepath.Join(there, "bin/lab"))
	missing, changed, err := kit.Differences(there, "")
	require.NoError(t, err)
	assert.Empty(t, append(missing, changed...))

	labtest.Write(t, filepath.Join(there, labtest.Page), "package gear\n")
	require.NoError(t, os.Remove(filepath.Join(there, "go.sum")))
	missing, changed, err = kit.Differences(there, "")
	require.NoError(t, err)
	assert.Equal(t, []string{"go.sum"}, missing)
	assert.Equal(t, []string{labtest.Page}, changed)
	for _, folder := range []string{"workshop", "go"} {
		missing, changed, err = kit.Differences(there, folder)
		require.NoError(t, err)
		assert.Empty(t, append(missing, changed...), "go.sum and the page are not below %s", folder)
	}
}

// The page to read first names no folder that the kit lacks.
func TestAKitWithoutGoSaysWhereItIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kit.tar.gz")
	_, err := Write(t.Context(), Config{Repository: clone(t), File: file, Version: "v1"})
	require.NoError(t, err)
	start, err := os.ReadFile(filepath.Join(unpack(t, file), "START.md"))
	require.NoError(t, err)
	assert.NotContains(t, string(start), "kit/go")
	assert.Equal(t, 2, strings.Count(string(start), "https://go.dev/dl"), "in both languages")
}

// Scripts can be run, and what is read-only can be replaced by its owner.
func TestFilesOfAKitKeepTheirModes(t *testing.T) {
	var out bytes.Buffer
	var entries []entry
	want := map[string]os.FileMode{"run": 0o755, "read": 0o644, "module": 0o644}
	for name, mode := range map[string]os.FileMode{"run": 0o755, "read": 0o644, "module": 0o444} {
		file := filepath.Join(t.TempDir(), name)
		labtest.Write(t, file, "text")
		require.NoError(t, os.Chmod(file, mode))
		entries = append(entries, entry{part: RepositoryPart, name: name, file: file})
	}
	_, err := Config{File: "kit"}.write(t.Context(), &out, entries)
	require.NoError(t, err)
	zipped, err := gzip.NewReader(&out)
	require.NoError(t, err)
	archive := tar.NewReader(zipped)
	for range entries {
		header, err := archive.Next()
		require.NoError(t, err)
		name := filepath.Base(header.Name)
		assert.Equal(t, want[name].String(), header.FileInfo().Mode().String(), "the mode of %s", name)
	}
}

// cancelling ends its context with the first byte that is written.
type cancelling struct{ cancel func() }

func (c cancelling) Write(p []byte) (int, error) { c.cancel(); return len(p), nil }

func TestAnInterruptedKitLeavesNoFile(t *testing.T) {
	dir, into := clone(t), t.TempDir()
	file := filepath.Join(into, "kit.tar.gz")
	config := Config{Repository: dir, File: file, Version: "v1"}
	entries, err := config.entries(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = config.write(ctx, cancelling{cancel}, entries)
	require.ErrorIs(t, err, context.Canceled)

	config.Archives = []string{filepath.Join(into, "nothing")}
	_, err = Write(t.Context(), config)
	require.Error(t, err)
	config.Archives = nil
	_, err = Write(ctx, config)
	require.ErrorIs(t, err, context.Canceled)
	left, err := filepath.Glob(filepath.Join(into, "kit*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestWithoutGitThereIsNoKit(t *testing.T) {
	_, err := Write(t.Context(), Config{Repository: labtest.Repository(t), File: filepath.Join(t.TempDir(), "kit")})
	assert.ErrorIs(t, err, ErrNoClone)
}

func TestArchivesOfGo(t *testing.T) {
	dir := labtest.Repository(t)
	for name, want := range map[string]error{
		"go1.26.0.linux-amd64.tar.gz": nil, "go1.27.windows-arm64.msi": nil, "go1.30.1.darwin-arm64.pkg": nil,
		"go1.25.9.linux-amd64.tar.gz": ErrOldGo, "go.tar.gz": ErrNotGo, "node-v20-linux-x64.tar.gz": ErrNotGo,
	} {
		file := filepath.Join(t.TempDir(), name)
		labtest.Write(t, file, "")
		assert.ErrorIs(t, CheckArchive(dir, file), want, name)
	}
	assert.ErrorIs(t, CheckArchive(dir, "go1.26.0.linux-386.tar.gz"), os.ErrNotExist)
}

func TestPathsOfModules(t *testing.T) {
	assert.Equal(t, "github.com/!hdr!histogram/hdrhistogram-go", escaped("github.com/HdrHistogram/hdrhistogram-go"))
}
