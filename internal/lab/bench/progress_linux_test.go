package bench_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program/programtest"
	"orrery/internal/lab/bench"
)

// readUntil returns everything read up to and including text.
func readUntil(t *testing.T, file *os.File, text string) string {
	t.Helper()
	var all strings.Builder
	buffer := make([]byte, 4096)
	for !strings.Contains(all.String(), text) {
		n, err := file.Read(buffer)
		require.NoError(t, err)
		all.Write(buffer[:n])
	}
	return all.String()
}

// On a terminal the line is rewritten, and erased at the end.
func TestATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	outside, inside := programtest.Terminal(t, 100)
	meter := &bench.Meter{}
	meter.Begin("filling the store")
	stop := bench.ShowProgress(inside, meter)
	all := readUntil(t, outside, "filling the store")
	meter.Begin("the next")
	all += readUntil(t, outside, "the next")
	stop()
	_, err := inside.WriteString("$ ")
	require.NoError(t, err)
	all += readUntil(t, outside, "$ ")
	assert.True(t, strings.HasSuffix(all, "\x1b[2K\r$ "), "%q", all)
	assert.NotContains(t, all, "\n")
}
