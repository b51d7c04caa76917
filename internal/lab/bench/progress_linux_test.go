package bench_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

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

// On a terminal the line is rewritten, fits the width, and is erased at the end.
func TestATerminal(t *testing.T) {
	for name, test := range map[string]struct {
		columns uint16
		want    string // expected on the terminal
	}{
		"wide":     {100, "filling the store"},
		"narrow":   {30, "filling"},
		"no width": {0, "filling the store"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TERM", "xterm-256color")
			outside, inside := programtest.Terminal(t, test.columns)
			meter := &bench.Meter{}
			meter.Begin("filling the store")
			stop := bench.ShowProgress(inside, meter)
			all := readUntil(t, outside, test.want)
			meter.Begin("the next")
			all += readUntil(t, outside, "the next")
			stop()
			_, err := inside.WriteString("$ ")
			require.NoError(t, err)
			all += readUntil(t, outside, "$ ")
			assert.True(t, strings.HasSuffix(all, "\x1b[2K\r$ "), "%q", all)
			if test.columns == 0 {
				return
			}
			for _, line := range regexp.MustCompile(`[\r\n]`).Split(all, -1) {
				line = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`).ReplaceAllString(line, "")
				assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, " ")), int(test.columns), "%q", line)
			}
		})
	}
}
