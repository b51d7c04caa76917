package metrics_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/metrics"
	"orrery/nsctl"
)

var metricRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (counter|gauge|histogram) \\| ([^|]*) \\| ([^|]+) \\|$")

// docs/operate/observing.md has exactly one row for every metric, with its kind and labels.
func TestEveryMetricIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/operate/observing.md")
	require.NoError(t, err)
	rows := map[string][]string{}
	for _, row := range metricRow.FindAllStringSubmatch(strings.ReplaceAll(string(text), "| |", "|  |"), -1) {
		assert.NotContains(t, rows, row[1], "it has two rows")
		rows[row[1]] = row[2:]
	}
	for _, d := range metrics.Definitions() {
		row := rows[d.Name]
		if !assert.NotNil(t, row, "%s has no row", d.Name) {
			continue
		}
		delete(rows, d.Name)
		assert.Equal(t, string(d.Kind), row[0], d.Name)
		labels := ""
		if len(d.Labels) > 0 {
			labels = "`" + strings.Join(d.Labels, "`, `") + "`"
		}
		assert.Equal(t, labels, strings.TrimSpace(row[1]), d.Name)
	}
	assert.Empty(t, rows, "there are no such metrics")
	for _, phase := range nsctl.Phases() {
		assert.Contains(t, string(text), "`"+string(phase)+"`")
	}
}

var queried = regexp.MustCompile(`(?:orrery|workqueue|rest_client|informer|leader_election)_[a-z_]+`)

// Queries in the documentation use existing metrics.
func TestQueriesAskForWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/operate/observing.md")
	require.NoError(t, err)
	_, questions, found := strings.Cut(string(text), "\n## Questions and alerts\n")
	require.True(t, found)
	known := map[string]bool{}
	for _, d := range metrics.Definitions() {
		known[d.Name] = true
		if d.Kind == metrics.Histogram {
			known[d.Name+"_sum"], known[d.Name+"_count"], known[d.Name+"_bucket"] = true, true, true
		}
	}
	names := queried.FindAllString(questions, -1)
	assert.Greater(t, len(names), 15)
	for _, name := range names {
		assert.True(t, known[name], "there is no metric %s", name)
	}
}
