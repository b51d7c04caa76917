package progress_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/progress"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Each case is a phase, whose name is the input. "line" draws it at the widths that are asked for, each with a mark where
// the terminal ends; "summary" tells about it.
func TestLines(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			phase := bench.Phase{Name: strings.TrimSpace(d.Input), Started: start}
			var elapsed string
			d.MaybeScanArgs(t, "unit", &phase.Unit)
			d.MaybeScanArgs(t, "total", &phase.Total)
			d.MaybeScanArgs(t, "done", &phase.Done)
			d.ScanArgs(t, "elapsed", &elapsed)
			if d.HasArg("lasts") {
				var lasts string
				d.ScanArgs(t, "lasts", &lasts)
				phase.Lasts = duration(t, lasts)
			}
			now := start.Add(duration(t, elapsed))
			if d.Cmd == "summary" {
				return progress.Summary(phase, now) + "\n"
			}
			var text strings.Builder
			look := progress.Look{ASCII: d.HasArg("ascii"), Color: d.HasArg("color")}
			for _, arg := range d.CmdArgs {
				if arg.Key != "width" {
					continue
				}
				for i := range arg.Vals {
					var width int
					arg.Scan(t, i, &width)
					line := progress.Line(phase, now, width, look)
					if look.Color {
						fmt.Fprintf(&text, "%q\n", line)
						continue
					}
					padding := width - utf8.RuneCountInString(line)
					require.Positive(t, padding)
					text.WriteString(line + strings.Repeat(" ", padding) + "|\n")
				}
			}
			return text.String()
		})
	})
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

func phases(t *rapid.T) bench.Phase {
	return bench.Phase{
		Name:    rapid.StringMatching(`[a-z é]{0,40}`).Draw(t, "name"),
		Unit:    rapid.SampledFrom([]string{"", "keys", "events"}).Draw(t, "unit"),
		Started: start,
		Lasts:   time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "lasts")),
		Total:   rapid.Int64Range(0, 1<<40).Draw(t, "total"),
		Done:    rapid.Int64Range(0, 1<<41).Draw(t, "done"),
	}
}

func TestALineNeverReachesTheLastColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 200).Draw(t, "width")
		now := start.Add(time.Duration(rapid.Int64Range(-1e9, 1e13).Draw(t, "elapsed")))
		line := progress.Line(phases(t), now, width, progress.Look{ASCII: rapid.Bool().Draw(t, "ascii")})
		assert.Less(t, utf8.RuneCountInString(line), width)
		assert.NotContains(t, line, "\x1b")
		assert.NotContains(t, line, "\n")
	})
}
