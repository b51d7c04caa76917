package compare_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/upstream/bench/compare"
	"orrery/upstream/bench/deletion"
	"orrery/upstream/bench/ours"
	"orrery/upstream/bench/theirs"
)

// promised lists this project's targets.
var promised = []struct {
	name   string
	kind   compare.TargetKind
	better bench.Better
	target float64
}{
	{"queue/cycle ns/op", compare.Ratio, bench.Lower, 0.6},
	{"queue/cycle allocs/op", compare.Value, bench.Lower, 0},
	{"queue/cycle-metrics ns/op", compare.Ratio, bench.Lower, 0.55},
	{"queue/pipeline processed/s", compare.Ratio, bench.Higher, 4},
	{"queue/add-after ns/op", compare.Ratio, bench.Lower, 0.3},
	{"queue/add-after B/op", compare.Ratio, bench.Lower, 0.5},
	{"queue/add-rate-limited ns/op", compare.Ratio, bench.Lower, 0.55},
	{"fifo/add-pop ns/op", compare.Ratio, bench.Lower, 0.33},
	{"fifo/add-pop allocs/op", compare.Value, bench.Lower, 2},
	{"fifo/relist ms", compare.Ratio, bench.Lower, 0.3},
	{"fifo/relist lock-ms", compare.Value, bench.Lower, 10},
	{"store/update ns/op", compare.Ratio, bench.Lower, 0.8},
	{"store/by-index ns/op", compare.Ratio, bench.Lower, 0.2},
	{"store/writes-with-readers writes/s", compare.Ratio, bench.Higher, 1000},
	{"dispatch/1 ns/event", compare.Ratio, bench.Lower, 0.4},
	{"dispatch/1 allocs/event", compare.Value, bench.Lower, 2},
	{"dispatch/16 ns/event", compare.Ratio, bench.Lower, 0.12},
	{"dispatch/idle p50", compare.Ratio, bench.Lower, 0.5},
	{"dispatch/idle p99", compare.Ratio, bench.Lower, 0.5},
	{"sync/json cpu s", compare.Ratio, bench.Lower, 0.15},
	{"sync/json peak MiB", compare.Ratio, bench.Lower, 0.35},
	{"sync/json live MiB", compare.Ratio, bench.Lower, 0.55},
	{"dispatch/stalled-coalescing live MiB", compare.Ratio, bench.Lower, 0.2},
	{"dispatch/stalled-default live MiB", compare.Ratio, bench.Lower, 0.6},
	{"deletion/hundred s", compare.Ratio, bench.Lower, 0.33},
	{"deletion/hundred requests", compare.Ratio, bench.Lower, 0.55},
	{"deletion/empty ms", compare.Ratio, bench.Lower, 0.15},
	{"deletion/empty requests", compare.Value, bench.Lower, 36},
	{"deletion/idle resident MiB", compare.Ratio, bench.Lower, 0.28},
}

func TestEveryTargetIsInTheTable(t *testing.T) {
	measures := compare.Measures()
	assert.Len(t, measures, len(promised))
	for _, p := range promised {
		i := slices.IndexFunc(measures, func(m compare.Measure) bool { return m.Name == p.name })
		if !assert.GreaterOrEqual(t, i, 0, "%s is not measured", p.name) {
			continue
		}
		assert.Equal(t, p.kind, measures[i].Kind, p.name)
		assert.Equal(t, p.better, measures[i].Better, p.name)
		assert.Equal(t, p.target, measures[i].Target, p.name)
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range slices.Concat(compare.Measures(), compare.Extras()) {
		assert.False(t, seen[m.Name], m.Name)
		seen[m.Name] = true
		assert.NotEmpty(t, m.Title, m.Name)
		assert.NotEmpty(t, m.Unit, m.Name)
	}
}

func TestExtrasHaveNoTarget(t *testing.T) {
	for _, m := range compare.Extras() {
		assert.Equal(t, compare.None, m.Kind, m.Name)
		assert.False(t, m.Quick, "%s guards nothing", m.Name)
	}
}

// A measure needs its scenario on each of its sides.
func TestEverySideHasItsScenarios(t *testing.T) {
	whole := []bench.Scenario{{Name: deletion.Hundred}, {Name: deletion.Empty}, {Name: deletion.Idle}}
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
