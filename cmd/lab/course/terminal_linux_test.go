package course

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program"
	"orrery/internal/app/program/programtest"
	"orrery/internal/lab/course"
	"orrery/internal/lab/course/labtest"
)

// onTerminal runs lab with a terminal on which the input is typed, and then Ctrl-D.
func onTerminal(t *testing.T, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	outside, inside := programtest.Terminal(t, 80)
	_, err := outside.WriteString(input + "\x04")
	require.NoError(t, err)
	root := newRoot()
	root.SetIn(inside)
	return programtest.Call(t, root, error.Error, args...)
}

// A narrow terminal gets narrow texts. Where there is none, lines stay as they are.
func TestATerminalGetsLinesThatFit(t *testing.T) {
	dir := begun(t, "")
	labtest.Replace(t, filepath.Join(dir, "workshop/labs/04-counter/lab.yaml"), "{en: one,", "{en: 'What must hold after each call of Add and of Value?',")
	want := "Hint 1 of 3:\r\nWhat must hold after each call\r\nof Add and of Value?\r\n"
	outside, inside := programtest.Terminal(t, 30)
	assert.Zero(t, program.Run(newRoot(), []string{"hint", "04"}, inside, io.Discard, error.Error))
	require.NoError(t, inside.Close()) // so that reading less than is wanted is an error
	shown := make([]byte, len(want))
	_, err := io.ReadFull(outside, shown)
	require.NoError(t, err)
	assert.Equal(t, want, string(shown))
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

// The key v shows the lab under watch in the browser. Ctrl-C ends that and not the watch.
func TestWatchShowsTheView(t *testing.T) {
	dir := begun(t, labtest.Reference)
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	labtest.Write(t, filepath.Join(dir, "cmd/orrery/main.go"), tracing)
	outside, inside := programtest.Terminal(t, 80)
	ended := make(chan int, 1)
	root := newRoot()
	root.SetIn(inside)
	go func() { ended <- program.Run(root, []string{"watch", "04"}, inside, inside, error.Error) }()
	const keys = "[v]iew"
	p, shown := &page{t: t}, make([]byte, 4096)
	until := func(text string) {
		for already := len(p.out.String()); !strings.Contains(p.out.String()[already:], text); {
			n, err := outside.Read(shown)
			require.NoError(t, err)
			_, _ = p.out.Write(shown[:n])
		}
	}
	typed := func(key string) {
		_, err := outside.WriteString(key)
		require.NoError(t, err)
	}
	until(keys)
	typed("v")
	until("The view stays until Ctrl-C")
	assert.Contains(t, p.get("/trace", nil), `"yours":["gear/counter.go"]`)
	typed("\x03")
	until(keys)
	typed("q")
	assert.Zero(t, <-ended)
}
