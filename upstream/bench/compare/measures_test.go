package main_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	compare "orrery/upstream/bench/compare"
)

// A measure needs a name of its own, and its scenario on each of its sides.
func TestEverySideHasItsScenarios(t *testing.T) {
	workers := t.TempDir()
	require.NoError(t, exec.Command("go", "build", "-o", workers+"/", "../ours", "../theirs").Run())
	scenarios := func(worker string, form ...string) []string {
		output, err := exec.Command(filepath.Join(workers, worker), append(form, "-list")...).Output()
		require.NoError(t, err, worker, form)
		return append(strings.Fields(string(output)), compare.Hundred, compare.Empty)
	}
	sides := map[compare.Side][]string{
		compare.Ours:     scenarios("ours"),
		compare.Textbook: scenarios("ours", "textbook"),
		compare.InOrder:  scenarios("ours", "inorder"),
		compare.Theirs:   scenarios("theirs"),
		compare.Priority: scenarios("theirs", "priority"),
		compare.RealFIFO: scenarios("theirs", "realfifo"),
	}
	seen := make(map[string]bool)
	for _, m := range compare.Measures() {
		assert.False(t, seen[m.Name], "%s is there twice", m.Name)
		seen[m.Name] = true
		assert.True(t, m.Target > 0 || m.Kind == compare.Value || m.Kind == compare.None && !m.Quick, m.Name)
		assert.Contains(t, sides[compare.Ours], m.Scenario, m.Name)
		assert.Contains(t, sides[m.Against], m.Scenario, m.Name)
		if m.Textbook != "" {
			assert.Contains(t, sides[m.Textbook], m.Scenario, m.Name)
		}
	}
}

// A process initialises and keeps in memory what it links, so our side must not link the original.
func TestOurSideLinksNothingOfTheOriginal(t *testing.T) {
	output, err := exec.Command("go", "list", "-deps", "orrery/upstream/bench/ours").Output()
	require.NoError(t, err)
	for dependency := range strings.Lines(string(output)) {
		assert.NotRegexp(t, `^(k8s\.io|sigs\.k8s\.io)/`, dependency)
	}
}

func TestOnly(t *testing.T) {
	for asked, want := range map[string][]string{
		"queue/add-after": {
			"queue/add-after ns/op", "queue/add-after B/op",
			"queue/add-after ns/op against controller-runtime", "queue/add-after B/op against controller-runtime",
		},
		"store/by-index ns/op":     {"store/by-index ns/op"},
		"deletion/idle":            {"deletion/idle resident MiB"},
		"fifo/relist,store/update": {"fifo/relist ms", "fifo/relist lock-ms", "store/update ns/op"},
		"sync":                     {"sync/json cpu s", "sync/json peak MiB", "sync/json live MiB"},
	} {
		chosen, err := compare.Only(compare.Measures(), strings.Split(asked, ","))
		require.NoError(t, err)
		var names []string
		for _, m := range chosen {
			names = append(names, m.Name)
		}
		assert.Equal(t, want, names, asked)
	}
	_, err := compare.Only(compare.Measures(), []string{"queue", "queue/cycl"})
	assert.EqualError(t, err, `there is no measure "queue/cycl"; -list names them all`)
}
