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

// labelsOfSeries returns the labels of each time series that the program or Prometheus sets.
func labelsOfSeries() map[string][]string {
	labels := map[string][]string{}
	for _, name := range []string{"process_cpu_seconds_total", "process_resident_memory_bytes", "go_goroutines"} {
		labels[name] = []string{"instance"} // the library's
	}
	for _, d := range metrics.Definitions() {
		known := append([]string{"instance"}, d.Labels...)
		if d.Kind == metrics.Histogram {
			labels[d.Name+"_sum"], labels[d.Name+"_count"] = known, known
			labels[d.Name+"_bucket"] = append(known, "le")
		} else {
			labels[d.Name] = known
		}
	}
	return labels
}

var (
	// expression matches one in a rule, in a panel or behind a question, which may be continued in
	// the next lines.
	expression = regexp.MustCompile(`(?:\bexpr"?:|\? \|) (.*(?:\n {11,}.*)*)`)
	labelValue = regexp.MustCompile(`[=~]\\?"[^"]*"`)
	labelList  = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)|\{([^}]*)\}`)
	metricName = regexp.MustCompile(`\b[a-z]+_[a-z_]+`)
	labelName  = regexp.MustCompile(`[a-z_]+`)
)

// Rules, dashboard and documentation use metrics that the program has, with labels that these have
// or that Prometheus adds. TestDefinitionsAreWhatIsWritten compares the definitions with the
// output. An expression that does not parse is not found here: that takes Prometheus' own parser,
// with its hundred modules.
func TestRulesAndDashboardAskForWhatThereIs(t *testing.T) {
	labels := labelsOfSeries()
	for file, least := range map[string]int{
		"deploy/monitoring/prometheusrule.yaml": 9, "deploy/monitoring/dashboard.json": 21,
		"docs/operate/observing.md": 9,
	} {
		text, err := os.ReadFile("../../../" + file)
		require.NoError(t, err)
		found := expression.FindAllStringSubmatch(string(text), -1)
		assert.GreaterOrEqual(t, len(found), least, file)
		if strings.HasSuffix(file, ".yaml") {
			assert.Equal(t, len(found), strings.Count(string(text), " for: "), "an alert waits")
		}
		for _, one := range found {
			bare := strings.ReplaceAll(labelValue.ReplaceAllString(one[1], ""), "histogram_quantile", "")
			var known []string
			for _, name := range metricName.FindAllString(labelList.ReplaceAllString(bare, ""), -1) {
				assert.Contains(t, labels, name, "there is no such metric: %s", one[1])
				known = append(known, labels[name]...)
			}
			assert.NotEmpty(t, known, one[1])
			for _, list := range labelList.FindAllStringSubmatch(bare, -1) {
				for _, label := range labelName.FindAllString(list[1]+list[2], -1) {
					assert.Contains(t, known, label, "there is no such label: %s", one[1])
				}
			}
		}
	}
}
