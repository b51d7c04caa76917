package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course"
	"orrery/internal/lab/course/labtest"
)

func TestDoctor(t *testing.T) {
	repository(t)
	code, stdout, stderr := lab(t, "doctor")
	assert.Zero(t, code, stdout+stderr)
	assert.Equal(t, "Building the tests of all labs and the controller. The first time takes some minutes …\n", stderr)
	assert.Regexp(t, `^  ✔ go +go1\S+
  ✔ modules .*
  · race detector  Without the race detector: .*
  (✔ kubectl +/.*|· kubectl +labs 12 and 13 need kubectl; .*)
  ✔ work folder    workshop/work can be written
  ✔ build          the tests of all labs and the controller are built
$`, stdout)

	require.NoError(t, os.RemoveAll("workshop/work"))
	labtest.Write(t, "workshop/work", "a file")
	code, stdout, _ = lab(t, "doctor", "--room")
	assert.Equal(t, 2, code)
	assert.Regexp(t, `^\S+  `+runtime.GOOS+`/\S+  go1\S+  race no  warm yes  not ready: work folder\n$`, stdout)

	t.Setenv("PATH", t.TempDir())
	code, stdout, stderr = lab(t, "doctor")
	assert.Equal(t, 2, code)
	assert.Empty(t, stderr)
	assert.Regexp(t, "✘ go .*install Go 1.26 or later", stdout)
}

// A kit is unpacked, and its doctor knows where modules come from.
func TestBundle(t *testing.T) {
	dir := repository(t)
	_, _, stderr := lab(t, "bundle")
	assert.Equal(t, "lab: a kit is made from a git clone, and git does not list the files of .\n", stderr)
	labtest.Track(t, dir)
	code, _, stderr := lab(t, "bundle", "--go", "nothing.tar.gz")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "nothing.tar.gz: ")

	labtest.Write(t, "go1.26.0.linux-amd64.tar.gz", "Go")
	code, stdout, stderr := lab(t, "bundle", "--go", "go1.26.0.linux-amd64.tar.gz")
	require.Zero(t, code, stderr)
	assert.Regexp(t, `^orrery-kit-\S+\.tar\.gz: \d+ MB\nOn a laptop: unpack it \(tar xzf orrery-kit-`, stdout)
	kits, err := filepath.Glob("orrery-kit-*.tar.gz")
	require.NoError(t, err)
	require.Len(t, kits, 1)
	output, err := exec.Command("tar", "xzf", kits[0]).CombinedOutput()
	require.NoError(t, err, string(output))
	t.Chdir(filepath.Join(dir, course.KitRoot))
	labtest.Write(t, "go.mod", "module orrery\n\ngo 1.26.0\n\nrequire example.com/nothing v1.0.0\n")
	labtest.Write(t, "gear/needs.go", "package gear\n\nimport _ \"example.com/nothing\"\n")
	_, stdout, _ = lab(t, "doctor")
	assert.Contains(t, stdout, "  ✘ modules        modules are missing; fill the cache from the kit: ")
}
