package view_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/view"
)

// Every user of a machine can read the arguments of a process. The browser gets the name of a file
// that only its owner can read.
func TestTheTokenIsNotAnArgumentOfTheBrowser(t *testing.T) {
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	require.NoError(t, syscall.Mkfifo(started, 0o600))
	browser := "#!/bin/sh\necho \"$*\" > " + started + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(browser), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("DISPLAY", ":0")
	t.Setenv("TMPDIR", t.TempDir())

	server, err := (&view.Flags{}).Start(view.Config{}, io.Discard)
	require.NoError(t, err)
	arguments, err := os.ReadFile(started) // waits for the browser
	require.NoError(t, err)
	name := strings.TrimSpace(string(arguments))
	token := at(t, server, "").Query().Get("token")
	assert.NotContains(t, name, token)
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	page, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Contains(t, string(page), "0;url=http://127.0.0.1:")
	assert.Contains(t, string(page), "token="+token)
	server.Stop()
	assert.NoFileExists(t, name, "the page has gone")
}
