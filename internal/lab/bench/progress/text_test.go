package progress_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/progress"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Each case is a phase, whose name is the input: "describe" while it goes on, "summary" afterwards.
func TestTexts(t *testing.T) {
	datadriven.RunTest(t, "testdata/texts", func(t *testing.T, d *datadriven.TestData) string {
		phase := bench.Phase{Name: strings.TrimSpace(d.Input), Started: start}
		d.MaybeScanArgs(t, "unit", &phase.Unit)
		d.MaybeScanArgs(t, "total", &phase.Total)
		d.MaybeScanArgs(t, "done", &phase.Done)
		if d.HasArg("lasts") {
			phase.Lasts = duration(t, d, "lasts")
		}
		now := start.Add(duration(t, d, "elapsed"))
		if d.Cmd == "summary" {
			return progress.Summary(phase, now) + "\n"
		}
		return progress.Describe(phase, now) + "\n"
	})
}

func duration(t *testing.T, d *datadriven.TestData, name string) time.Duration {
	t.Helper()
	var text string
	d.ScanArgs(t, name, &text)
	parsed, err := time.ParseDuration(text)
	require.NoError(t, err)
	return parsed
}
