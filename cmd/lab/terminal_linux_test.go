package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program/programtest"
	"orrery/internal/lab/course"
)

// onTerminal runs lab with a terminal on which the input is typed, and then Ctrl-D.
func onTerminal(t *testing.T, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	outside, inside := programtest.Terminal(t, 80)
	_, err := outside.WriteString(input + "\x04")
	require.NoError(t, err)
	root := newRootCommand()
	root.SetIn(inside)
	return programtest.Call(t, root, error.Error, args...)
}

func TestStartAsksWhatWasNeverAnswered(t *testing.T) {
	dir := repository(t)
	_, _, stderr := quiz(t, "b\n", "quiz", "04")
	require.Empty(t, stderr)
	code, stdout, stderr := onTerminal(t, "a\n", "start", "04")
	assert.Zero(t, code, stderr)
	assert.Contains(t, stdout, "question 2 of 2")
	assert.NotContains(t, stdout, "question 1 of 2", "its answer is known")
	assert.FileExists(t, filepath.Join(dir, yours))
	progress, err := course.FolderIn(dir).Progress()
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"order": "a", "again": "1"}, progress["04"].Answers)
}
