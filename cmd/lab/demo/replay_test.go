package demo

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
	"orrery/internal/observe/web/view"
	"orrery/queue"
)

// write returns the name of a file with this content.
func write(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "run.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

const (
	header = `{"h":1,"schema":"orrery.trace/2","start":"2026-05-04T10:02:11Z","clock":"real","gears":"fast"}` + "\n" +
		`{"s":0,"t":0,"state":{}}` + "\n"

	event = `{"s":1,"t":5,"e":"queue.added","i":"q","k":"a"}` + "\n"
)

// What is no recording is refused in one sentence, whatever is to be done with it.
func TestReplayRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	inUse := "port " + port + " is in use by another program; choose another one with --view-port"
	sound := write(t, header+event)
	newer := write(t, `{"h":2,"schema":"orrery.trace/3","build":"v9.9"}`+"\n"+event)
	older := write(t, strings.Replace(header, "/2", "/1", 1))
	for want, args := range map[string][]string{
		`not a recording: line 1 is "hello"`:                           {write(t, "hello\n")},
		"not a recording: it is empty":                                 {write(t, "")},
		"not a recording: line 1 is \"{}\"":                            {write(t, "{}\n")},
		"use version v9.9 or a later one":                              {newer},
		"this program reads only orrery.trace/2: record the run again": {older},
		"no such file":   {filepath.Join(t.TempDir(), "missing.jsonl")},
		"is a directory": {t.TempDir()},
		"not a recording: its gzip header is damaged":        {write(t, "\x1f\x8bhello")},
		"--view-port must be between 1 and 65535, not 65536": {sound, "--view-port", "65536"},
		inUse:                          {sound, "--view-port", port},
		"give the file of a recording": {},
	} {
		ways := [][]string{{"--no-open"}}
		if len(args) == 1 {
			ways = append(ways, []string{"--html", filepath.Join(t.TempDir(), "out.html")})
		}
		for _, way := range ways {
			code, stdout, stderr := call(t, "replay", append(args, way...)...)
			assert.Equal(t, 1, code, "%q %q", want, way)
			assert.Empty(t, stdout, "%q %q", want, way)
			assert.Contains(t, stderr, want, "%q", way)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), "one sentence: %s", stderr)
		}
	}
}

// The page is served until the command is told to end.
func TestReplayServesThePage(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	written := writerFunc(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("Ctrl-C ends it.")) {
			cancel()
		}
		return out.Write(p)
	})
	require.NoError(t, replay(ctx, write(t, header+event), view.Flags{NoOpen: true}, written))
	assert.Contains(t, out.String(), "The view: http://127.0.0.1:")
}

// What a recorder has written is sound, compressed too, and becomes one page, but not in its own
// place.
func TestReplayWritesOnePage(t *testing.T) {
	for _, name := range []string{"run.jsonl", "run.jsonl.gz"} {
		file := filepath.Join(t.TempDir(), name)
		recorder, err := trace.Start(trace.Config{File: file})
		require.NoError(t, err)
		recorder.Queue("work").Added(queue.Event[string]{Key: "a", Seq: 1})
		recorder.Stop("done")
		require.NoError(t, recorder.Err())
		page := filepath.Join(t.TempDir(), "page.html")
		require.NoError(t, os.WriteFile(page, nil, 0o644))
		require.NoError(t, os.Chmod(page, 0o644))
		code, stdout, _ := call(t, "replay", file, "--html", page)
		assert.Zero(t, code)
		assert.Contains(t, stdout, "open it in a browser")
		info, err := os.Stat(page)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode(),
			"only the owner can read the names of objects, whatever was there before")
		html, err := os.ReadFile(page)
		require.NoError(t, err)
		assert.True(t, bytes.HasPrefix(html, []byte("<!")), "%.40s", html)

		before, err := os.ReadFile(file)
		require.NoError(t, err)
		other := filepath.Join(t.TempDir(), "other.html")
		require.NoError(t, os.Link(file, other))
		for _, itself := range []string{file, other} {
			code, _, stderr := call(t, "replay", file, "--html", itself)
			assert.Equal(t, 1, code)
			assert.Contains(t, stderr, "--html "+itself+" is the recording itself")
			after, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(before, after), "the recording is as it was")
		}
	}
}
