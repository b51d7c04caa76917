package metrics_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"orrery/internal/observe/metrics"
)

// expressions returns the values of "expr" in the rules or in the panels of a file. An alert has a
// "for".
func expressions(t *testing.T, name string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../deploy/monitoring", name))
	require.NoError(t, err)
	var file struct {
		Spec struct {
			Groups []struct {
				Rules []struct{ Alert, Expr, For string }
			}
		}
		Panels []struct{ Targets []struct{ Expr string } }
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	for _, group := range file.Spec.Groups {
		for _, rule := range group.Rules {
			assert.NotEmpty(t, rule.For, rule.Alert)
			all = append(all, rule.Expr)
		}
	}
	for _, panel := range file.Panels {
		for _, target := range panel.Targets {
			all = append(all, target.Expr)
		}
	}
	assert.Len(t, all, strings.Count(string(text), "expr:")+strings.Count(string(text), `"expr":`))
	return all
}

// askedExpressions returns the expressions in the documentation.
func askedExpressions(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/operate/observing.md")
	require.NoError(t, err)
	_, questions, found := strings.Cut(string(text), "\n## Questions and alerts\n")
	require.True(t, found)
	for _, row := range regexp.MustCompile("(?m)^\\| [^|]*\\? \\| `([^`]*)`").FindAllStringSubmatch(questions, -1) {
		all = append(all, strings.ReplaceAll(row[1], `\|`, "|"))
	}
	return all
}

// The words of PromQL that the expressions use; every other word is the name of a metric or of a
// label. An expression that does not parse is not found here: that takes Prometheus' own parser,
// with its hundred modules.
var promWords = strings.Fields("sum max by on and absent rate increase topk histogram_quantile")

var (
	quotedText  = regexp.MustCompile(`"[^"]*"`)
	rangeOrStep = regexp.MustCompile(`\[[^\]]*\]`)
	labelList   = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)|\{([^}]*)\}`)
	promWord    = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
)

// labelsOfSeries returns the labels of each time series that the program or Prometheus sets.
func labelsOfSeries() map[string][]string {
	labels := map[string][]string{}
	for _, name := range []string{"process_cpu_seconds_total", "process_resident_memory_bytes", "go_goroutines"} {
		labels[name] = []string{"instance"} // the library's
	}
	for _, d := range metrics.Definitions() {
		names := []string{d.Name}
		if d.Kind == metrics.Histogram {
			names = []string{d.Name + "_sum", d.Name + "_count", d.Name + "_bucket"}
		}
		for _, name := range names {
			labels[name] = append([]string{"instance"}, d.Labels...)
			if strings.HasSuffix(name, "_bucket") {
				labels[name] = append(labels[name], "le")
			}
		}
	}
	return labels
}

// Rules, dashboard and documentation use metrics that the program has, with labels that these have
// or that Prometheus adds. TestDefinitionsAreWhatIsWritten compares the definitions with the
// output.
func TestRulesAndDashboardAskForWhatThereIs(t *testing.T) {
	labels := labelsOfSeries()
	alerts, panels := expressions(t, "prometheusrule.yaml"), expressions(t, "dashboard.json")
	questions := askedExpressions(t)
	assert.Greater(t, len(alerts), 5)
	assert.Greater(t, len(panels), 20)
	assert.Greater(t, len(questions), 8)
	for _, expression := range slices.Concat(alerts, panels, questions) {
		bare := rangeOrStep.ReplaceAllString(quotedText.ReplaceAllString(expression, ""), "")
		assert.Equal(t, strings.Count(bare, "("), strings.Count(bare, ")"), expression)
		assert.Equal(t, strings.Count(bare, "{"), strings.Count(bare, "}"), expression)
		var asked, known []string
		for _, word := range promWord.FindAllString(labelList.ReplaceAllString(bare, ""), -1) {
			if slices.Contains(promWords, word) {
				continue
			}
			assert.Contains(t, labels, word, "there is no such metric: %s", expression)
			asked, known = append(asked, word), append(known, labels[word]...)
		}
		assert.NotEmpty(t, asked, expression)
		for _, list := range labelList.FindAllStringSubmatch(bare, -1) {
			for _, label := range promWord.FindAllString(list[1]+list[2], -1) {
				assert.Contains(t, known, label, "%v have no such label: %s", asked, expression)
			}
		}
	}
}
