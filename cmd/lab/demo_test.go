package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/demo"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/trace/tracetest"
	"orrery/queue"
	"orrery/restclient/kubeconfig"
)

// The recording of a scene that is stopped ends with the scene, not with gears that shut down.
func TestDemoRecordsUntilItIsStopped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	scene := start(t, "demo", "--record", file)
	scene.until(t, "kubectl create namespace shop")
	require.NoError(t, scene.end())
	recording, err := os.Open(file)
	require.NoError(t, err)
	defer recording.Close()
	_, last, err := tracetest.Read(recording)
	require.NoError(t, err)
	assert.Equal(t, "the scene was stopped", last.Ended)
	require.NotEmpty(t, last.Informers)
	for _, i := range last.Informers {
		assert.NotEqual(t, "stopped", i.Phase)
	}
}

// A server that is kept is announced with a working kubeconfig, and both are gone at the end.
func TestDemoKeepsTheServer(t *testing.T) {
	server, err := apiserver.New(apiserver.Config{TLS: true})
	require.NoError(t, err)
	defer server.Stop(context.Background())
	require.NoError(t, server.Start(t.Context()))
	var out bytes.Buffer
	config := demo.Config{Out: &out}
	forget := keep(&config)
	words, err := config.Started(server)
	require.NoError(t, err)
	ended, end := context.WithCancel(t.Context())
	end()
	require.NoError(t, config.Keep(ended, server))
	path := regexp.MustCompile(`export KUBECONFIG=(\S+)`).FindStringSubmatch(out.String())
	require.NotNil(t, path)
	assert.Contains(t, words, path[1])
	loaded, _, err := kubeconfig.Load(kubeconfig.Options{Path: path[1]})
	require.NoError(t, err)
	assert.Equal(t, server.URL(), loaded.Host)
	forget()
	assert.NoFileExists(t, path[1])
	assert.Contains(t, out.String(), "Ctrl-C ends both.")
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, len(line), 80)
	}
}

const (
	header = `{"h":1,"schema":"orrery.trace/2","start":"2026-05-04T10:02:11Z","clock":"real","gears":"fast"}` + "\n" +
		`{"s":0,"t":0,"state":{}}` + "\n"

	event = `{"s":1,"t":5,"e":"queue.added","i":"q","k":"a"}` + "\n"
)

// What is no recording is refused in one sentence, whatever is to be done with it.
func TestReplayRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	refuses := func(want, content string, args ...string) {
		t.Helper()
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		code, stdout, stderr := lab(t, append([]string{"replay"}, args...)...)
		assert.Equal(t, 1, code, "%q %q", want, args)
		assert.Empty(t, stdout, "%q %q", want, args)
		assert.Contains(t, stderr, want, "%q", args)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "one sentence: %s", stderr)
	}
	for want, content := range map[string]string{
		"not a recording: line 1 is \"{}\"":                            "{}\n",
		"use version v9 or a later one":                                `{"h":2,"schema":"orrery.trace/3","build":"v9"}`,
		"this program reads only orrery.trace/2: record the run again": strings.Replace(header, "/2", "/1", 1),
		"not a recording: its gzip header is damaged":                  "\x1f\x8bhello",
	} {
		refuses(want, content, file, "--no-open")
		refuses(want, content, file, "--html", filepath.Join(t.TempDir(), "out.html"))
	}
	refuses("no such file", "", filepath.Join(t.TempDir(), "missing.jsonl"))
	refuses("is a directory", "", t.TempDir())
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	refuses("port "+port+" is in use by another program; choose another one with --view-port", header+event,
		file, "--no-open", "--view-port", port)
}

// The page is served until the command is told to end.
func TestReplayServesThePage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(header+event), 0o600))
	replay := start(t, "replay", file, "--no-open")
	assert.Contains(t, replay.until(t, "Ctrl-C ends it."), "The view: http://127.0.0.1:")
	require.NoError(t, replay.end())
}

// What a recorder has written is sound, compressed too, and becomes one page, but not in its own
// place.
func TestReplayWritesOnePage(t *testing.T) {
	for _, name := range []string{"run.jsonl", "run.jsonl.gz"} {
		dir := t.TempDir()
		file, page, other := filepath.Join(dir, name), filepath.Join(dir, "page.html"), filepath.Join(dir, "other.html")
		recorder, err := trace.Start(trace.Config{File: file})
		require.NoError(t, err)
		recorder.Queue("work").Added(queue.Event[string]{Key: "a", Seq: 1})
		recorder.Stop("done")
		require.NoError(t, recorder.Err())
		before, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(page, nil, 0o644))
		code, stdout, _ := lab(t, "replay", file, "--html", page)
		assert.Zero(t, code)
		assert.Contains(t, stdout, "open it in a browser")
		info, err := os.Stat(page)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode(),
			"only the owner can read the names of objects, whatever was there before")
		html, err := os.ReadFile(page)
		require.NoError(t, err)
		assert.True(t, bytes.HasPrefix(html, []byte("<!")), "%.40s", html)

		require.NoError(t, os.Link(file, other))
		for _, itself := range []string{file, other} {
			code, _, stderr := lab(t, "replay", file, "--html", itself)
			assert.Equal(t, 1, code)
			assert.Contains(t, stderr, "--html "+itself+" is the recording itself")
		}
		after, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(before, after), "the recording is as it was")
	}
}
