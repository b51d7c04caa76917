package metrics_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/metrics"
)

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
