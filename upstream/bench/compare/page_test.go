package main_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	compare "orrery/upstream/bench/compare"
)

// complete returns results with a record for every measure.
func complete(verdict compare.Verdict) compare.Results {
	var records []compare.Record
	for i, m := range compare.Measures() {
		ratio := 0.9 / float64(2+i%7)
		if m.Better == bench.Higher {
			ratio = 1200
		}
		r := compare.Record{
			Measure: m, Ours: 1000 * ratio, Theirs: 1000, Ratio: ratio, Low: ratio * 0.9, High: ratio * 1.2,
			Spread: 0.3,
			Rounds: 5, Verdict: verdict, Proof: "a proof of " + m.Scenario,
		}
		if m.Textbook != "" {
			r.Textbook = &compare.TextbookRecord{Figure: 1500, Ratio: 1.5}
		}
		if m.Kind == compare.None {
			r.Verdict = compare.Shown
		}
		records = append(records, r)
	}
	return compare.Results{Records: records, Machine: compare.Machine{
		Machine: bench.Machine{Processor: "a processor", Cores: 2, Memory: 8 << 30, Platform: "linux/amd64",
			Go: "1.26"},
		Modules: map[string]string{"k8s.io/client-go": "v0.36.3"},
	}}
}

func pageOf(t *testing.T, results compare.Results) string {
	t.Helper()
	page, err := compare.Page(results)
	require.NoError(t, err)
	return string(page)
}

func TestThePageHasEveryMeasure(t *testing.T) {
	page := pageOf(t, complete(compare.Met))
	has(t, page, "28 of 28 targets met.")
	for _, m := range compare.Measures() {
		if m.Kind == compare.None {
			has(t, page, "| "+m.Title+" | "+string(m.Against)+" |")
			continue
		}
		has(t, page, "\n### "+m.Scenario+"\n")
		has(t, page, "bin/bench -only "+m.Scenario)
		has(t, page, "| ["+m.Title+"](#")
	}
	has(t, page, "| 1.5 µs (1.50) |")
	has(t, page, "Every side proved: a proof of dispatch/stalled-default.")
	has(t, page, "Our side proved: a proof of dispatch/stalled-coalescing.")
}

// has asserts without printing the whole page.
func has(t *testing.T, page, text string) {
	t.Helper()
	assert.True(t, strings.Contains(page, text), "%q is not on the page", text)
}

// Words follow their figures: the reason for a missed target appears only while it is missed.
func TestWordsFollowFigures(t *testing.T) {
	met := pageOf(t, complete(compare.Met))
	assert.Equal(t, 0, strings.Count(met, "**missed**")+strings.Count(met, "is missed:"))
	page := pageOf(t, complete(compare.Missed))
	has(t, page, "0 of 28 targets met, 28 missed.")
	has(t, page, "Why the target for ")
	has(t, page, "| **missed** |")
}

func TestATextWithoutARecord(t *testing.T) {
	few := complete(compare.Met)
	few.Records = few.Records[:10]
	_, err := compare.Page(few)
	assert.ErrorContains(t, err, "a section is about")
}

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
