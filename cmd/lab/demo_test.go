package demo

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program/programtest"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/demo"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/trace/tracetest"
	"orrery/restclient/kubeconfig"
)

func TestDemoMistakes(t *testing.T) {
	for want, args := range map[string][]string{
		`--scene: there is no scene "delite"; the scenes are delete, finalizer, `: {"--scene", "delite"},
		"the scene store-decides has no controller that --keep could keep": {"--scene", "store-decides",
			"--keep"},
		"the scene stall has no controller that --keep could keep": {"--scene", "stall", "--keep"},
		"--view-port and --no-open need --view":                    {"--no-open"},
		`there is no language "de"; use en or zh-CN`:               {"--lang", "de"},
		"view-port and --no-open need --view":                      {"--view-port", "7000"},
		"the scene index has no gear that the view": {"--scene", "index", "--view",
			"--no-open"},
		"no gear that the view or a recording could show": {"--scene", "index", "--record",
			filepath.Join(t.TempDir(), "x.jsonl")},
		`unexpected argument "delete"`: {"delete"},
	} {
		code, stdout, stderr := call(t, "demo", args...)
		assert.Equal(t, 1, code)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, want)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "one sentence: %s", stderr)
	}
}

// call runs one of the commands.
func call(t *testing.T, command string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	root := &cobra.Command{Use: "lab"}
	root.AddCommand(New(), NewReplay())
	return programtest.Call(t, root, error.Error, append([]string{command}, args...)...)
}

// A scene without a working output stops early.
func TestDemoEndsWhenItCannotBeShown(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	err = runDemo(t.Context(), &demoOptions{scene: demo.Default}, full)
	assert.EqualError(t, err, "cannot show the scene: write /dev/full: no space left on device")
}

// The recording of a scene that is stopped ends with the scene, not with gears that shut down.
func TestDemoRecordsUntilItIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	file := filepath.Join(t.TempDir(), "run.jsonl")
	options := &demoOptions{
		scene:  demo.Default,
		record: trace.Options{File: file, Limit: 1},
	}
	require.NoError(t, runDemo(ctx, options, writerFunc(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("kubectl create namespace shop")) {
			cancel()
		}
		return len(p), nil
	})))
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

func TestDemoHelpListsTheScenes(t *testing.T) {
	code, stdout, _ := call(t, "demo", "--help")
	assert.Zero(t, code)
	for _, scene := range demo.All() {
		summary := scene.Words().Summary.English
		assert.Contains(t, stdout, "\n  "+scene.Name+"\n    "+summary+"\n")
		assert.LessOrEqual(t, len(summary), 76, "the line of %s fits", scene.Name)
	}
}

// Output to a pipe or file is lines; pictures need a terminal.
func TestDemoDrawsOnTerminalsOnly(t *testing.T) {
	options := &demoOptions{}
	config := options.config(&bytes.Buffer{})
	assert.Nil(t, config.Size)
	assert.False(t, config.Color)
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer reader.Close()
	defer writer.Close()
	assert.Nil(t, options.config(writer).Size)
}

// A server that is kept is announced with a working kubeconfig, and both are gone at the end.
func TestDemoKeepsTheServer(t *testing.T) {
	server, err := apiserver.New(apiserver.Config{TLS: true})
	require.NoError(t, err)
	defer server.Stop(context.Background())
	require.NoError(t, server.Start(t.Context()))
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	path := ""
	announced := writerFunc(func(p []byte) (int, error) {
		if found := regexp.MustCompile(`export KUBECONFIG=(\S+)`).FindSubmatch(p); found != nil {
			path = string(found[1])
			config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
			assert.NoError(t, err)
			assert.Equal(t, server.URL(), config.Host)
			cancel()
		}
		return out.Write(p)
	})
	config := demo.Config{Out: announced}
	suspendable := false
	forget := keep(&config, func() { suspendable = true })
	words, err := config.Started(server)
	require.NoError(t, err)
	assert.False(t, suspendable, "the picture is drawn on the terminal")
	require.NoError(t, config.Keep(ctx, server))
	assert.True(t, suspendable, "Ctrl-Z works while the server is kept")
	require.NotEmpty(t, path)
	assert.Contains(t, words, path)
	assert.FileExists(t, path)
	forget()
	assert.NoFileExists(t, path)
	assert.Contains(t, out.String(), "Ctrl-C ends both.")
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, len(line), 80)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
