package script_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/script"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/view"
	"orrery/queue"
)

// traced is what "orrery run --view" does: it serves a trace and prints the address of its page.
func traced() (stop func()) {
	recorder, err := trace.Start(trace.Config{Header: trace.Header{Run: "orrery run", Mode: "cluster", Gears: "textbook", Workers: 7}})
	if err != nil {
		panic(err)
	}
	recorder.Queue("work").Added(queue.Event[string]{Key: "a", Seq: 1})
	recorder.Flush()
	server, err := view.Start(view.Config{Source: recorder})
	if err != nil {
		panic(err)
	}
	fmt.Println("The view: " + server.URL())
	return func() {
		recorder.Stop("the process has stopped")
		server.Stop()
	}
}

// followed plays a script with a trace, and returns its lines and what the header says.
func followed(t *testing.T, mode string) (outcome script.Outcome, lines []string, header trace.Header, begun int) {
	t.Helper()
	t.Setenv("LAB_CONTROLLER", mode)
	program, err := os.Executable()
	require.NoError(t, err)
	relay := trace.NewRelay(trace.Header{Run: "lab run", Mode: "lab", Gears: "textbook"})
	outcome, err = script.Play(t.Context(), script.Config{
		Run: manifest.Run{}, Program: program, Log: t.TempDir() + "/log", Out: io.Discard, LimitFactor: 10,
		Trace: relay, Begun: func() { begun++; header = relay.Header() },
	})
	require.NoError(t, err)
	relay.End(map[bool]string{true: "panic: it crashed"}[outcome.Crashed])
	cursor := relay.History().Cursor(1 << 20)
	for {
		batch, err := cursor.Next(context.Background())
		if err == io.EOF {
			return outcome, lines, header, begun
		}
		require.NoError(t, err)
		lines = append(lines, strings.Split(strings.TrimSpace(string(batch.Lines)), "\n")...)
	}
}

// The trace of the controller is followed from its first event to its last, and a controller that
// ends before it has one is said to have begun all the same.
func TestTheControllersTraceIsFollowed(t *testing.T) {
	outcome, lines, header, begun := followed(t, "serves")
	require.True(t, outcome.OK, outcome.Output)
	assert.Equal(t, 1, begun)
	assert.Equal(t, 7, header.Workers)
	assert.Equal(t, "lab run", header.Run)
	require.Len(t, lines, 2)
	assert.Contains(t, lines[0], `"e":"queue.added","i":"work","k":"a"`)
	assert.Contains(t, lines[1], `"e":"trace.end","reason":"the process has stopped"`)

	outcome, lines, header, begun = followed(t, "panics")
	assert.True(t, outcome.Crashed)
	assert.Equal(t, 1, begun)
	assert.Zero(t, header.Workers)
	require.Len(t, lines, 1)
	assert.Contains(t, lines[0], `"reason":"panic: it crashed"`)
}
