package compare_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/upstream/bench/clusters"
	"orrery/upstream/bench/compare"
	"orrery/upstream/bench/ours"
	"orrery/upstream/bench/theirs"
)

// A comparison without a target shows nothing that can be missed, and guards nothing: those are the
// extras.
func TestEveryMeasureHasATarget(t *testing.T) {
	measures, extras := compare.Measures(), compare.Extras()
	assert.GreaterOrEqual(t, len(measures), 20)
	for _, m := range measures {
		assert.Contains(t, []compare.TargetKind{compare.Ratio, compare.Value}, m.Kind, m.Name)
		assert.True(t, m.Target > 0 || m.Kind == compare.Value, "%s: the target is %v", m.Name, m.Target)
	}
	for _, m := range extras {
		assert.Equal(t, compare.None, m.Kind, m.Name)
		assert.False(t, m.Quick, m.Name)
	}
	seen := make(map[string]bool)
	for _, m := range slices.Concat(measures, extras) {
		assert.False(t, seen[m.Name], "%s is there twice", m.Name)
		seen[m.Name] = true
		assert.NotEmpty(t, m.Title, m.Name)
		assert.NotEmpty(t, m.Unit, m.Name)
	}
}

// A measure needs its scenario on each of its sides.
func TestEverySideHasItsScenarios(t *testing.T) {
	whole := []bench.Scenario{{Name: clusters.Hundred}, {Name: clusters.Empty}, {Name: clusters.Servers}}
	scenarios := map[compare.Side][]bench.Scenario{
		compare.Ours:     slices.Concat(ours.Scenarios(), whole),
		compare.Textbook: slices.Concat(ours.TextbookScenarios(), whole),
		compare.InOrder:  ours.InOrderScenarios(),
		compare.Theirs:   slices.Concat(theirs.Scenarios(), whole),
		compare.Priority: theirs.PriorityScenarios(),
		compare.RealFIFO: theirs.RealFIFOScenarios(),
	}
	for _, m := range slices.Concat(compare.Measures(), compare.Extras()) {
		other := m.Other
		if other == "" {
			other = m.Scenario
		}
		assert.True(t, contains(scenarios[compare.Ours], m.Scenario), "%s on our side has no %s", m.Name, m.Scenario)
		assert.True(t, contains(scenarios[m.Against], other), "%s of %s has no %s", m.Name, m.Against, other)
		if m.Textbook != "" {
			assert.True(t, contains(scenarios[m.Textbook], m.Scenario), "%s of %s has no %s", m.Name, m.Textbook, m.Scenario)
		}
	}
}

func contains(scenarios []bench.Scenario, name string) bool {
	return slices.ContainsFunc(scenarios, func(s bench.Scenario) bool { return s.Name == name })
}

// A process initialises and keeps in memory what it links, so our side must not link the original.
func TestOurSideLinksNothingOfTheOriginal(t *testing.T) {
	output, err := exec.Command("go", "list", "-deps", "orrery/upstream/bench/cmd/ours").Output()
	require.NoError(t, err)
	for dependency := range strings.Lines(string(output)) {
		assert.NotRegexp(t, `^(k8s\.io|sigs\.k8s\.io)/`, dependency)
	}
}

func TestOnly(t *testing.T) {
	for asked, want := range map[string][]string{
		"queue/cycle":              {"queue/cycle ns/op", "queue/cycle allocs/op"},
		"store/by-index ns/op":     {"store/by-index ns/op"},
		"deletion/idle":            {"deletion/idle resident MiB"},
		"fifo/relist,store/update": {"fifo/relist ms", "fifo/relist lock-ms", "store/update ns/op"},
	} {
		chosen, err := compare.Only(compare.Measures(), strings.Split(asked, ","))
		require.NoError(t, err)
		var names []string
		for _, m := range chosen {
			names = append(names, m.Name)
		}
		assert.Equal(t, want, names, asked)
	}
	chosen, err := compare.Only(compare.Measures(), []string{"sync"})
	require.NoError(t, err)
	assert.Len(t, chosen, 3)
	_, err = compare.Only(compare.Measures(), []string{"queue", "queue/cycl"})
	assert.EqualError(t, err, `there is no measure "queue/cycl"; -list names them all`)
}
