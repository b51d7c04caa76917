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
  ✔ work folder    workshop/work can be written
  ✔ build          the tests of all labs and the controller are built
$`, stdout)

	require.NoError(t, os.RemoveAll("workshop/work"))
	labtest.Write(t, "workshop/work", "a file")
	code, stdout, _ = lab(t, "doctor", "--warm=false", "--room")
	assert.Equal(t, 2, code)
	assert.Regexp(t, `^\S+  `+runtime.GOOS+`/\S+  go1\S+  race no  warm no  not ready: work folder\n$`, stdout)
	_, stdout, _ = lab(t, "doctor", "--warm=false", "--room", "--lang", "zh-CN")
	assert.Contains(t, stdout, "竞争检测 否")

	t.Setenv("PATH", t.TempDir())
	code, stdout, stderr = lab(t, "doctor")
	assert.Equal(t, 2, code)
	assert.Empty(t, stderr)
	assert.Contains(t, stdout, "✘ go ")
	assert.Contains(t, stdout, "install Go 1.26 or later")
}

func TestBundle(t *testing.T) {
	dir := repository(t)
	_, _, stderr := lab(t, "bundle")
	assert.Equal(t, "lab: a kit is made from a git clone, and git does not list the files of .\n", stderr)
	labtest.Track(t, dir)
	for want, args := range map[string][]string{
		"nothing.tar.gz: ":        {"--go", "nothing.tar.gz"},
		"open nothing/kit.part: ": {"-o", "nothing/kit"},
	} {
		code, stdout, stderr := lab(t, append([]string{"bundle"}, args...)...)
		assert.Equal(t, 2, code)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, want)
	}

	file, archive := filepath.Join(t.TempDir(), "kit.tar.gz"), filepath.Join(t.TempDir(), "go1.26.0.linux-amd64.tar.gz")
	labtest.Write(t, archive, "Go")
	code, stdout, stderr := lab(t, "bundle", "-o", file, "--go", archive)
	require.Zero(t, code, stderr)
	assert.Regexp(t, `^\S+: \d+ MB\nOn a laptop: unpack it \(tar xzf kit\.tar\.gz\)`, stdout)
	output, err := exec.Command("tar", "xzf", file, "-C", dir).CombinedOutput()
	require.NoError(t, err, string(output))
	t.Chdir(filepath.Join(dir, course.KitRoot))
	labtest.Write(t, "go.mod", "module orrery\n\ngo 1.26.0\n\nrequire example.com/nothing v1.0.0\n")
	labtest.Write(t, "gear/needs.go", "package gear\n\nimport _ \"example.com/nothing\"\n")
	_, stdout, _ = lab(t, "doctor")
	assert.Contains(t, stdout, "  ✘ modules        modules are missing; fill the cache from the kit: ")
}
