package main_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/report"
	compare "orrery/upstream/bench/compare"
)

// complete returns results with a record for every measure.
func complete(verdict compare.Verdict) compare.Results {
	var records []compare.Record
	for i, m := range slices.Concat(compare.Measures(), compare.Extras()) {
		ratio := 0.9 / float64(2+i%7)
		if m.Better == bench.Higher {
			ratio = 1200
		}
		r := compare.Record{
			Name: m.Name, Unit: m.Unit, Ours: 1000 * ratio, Theirs: 1000, Ratio: ratio, Low: ratio * 0.9, High: ratio * 1.2, Spread: 0.3,
			Better: m.Better, Target: m.Target, TargetKind: m.Kind, Rounds: 5, Verdict: verdict, Proof: "a proof of " + m.Scenario,
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
		Machine: report.Machine{Processor: "a processor", Cores: 2, Memory: 8 << 30, Platform: "linux/amd64",
			Go: "1.26"},
		Modules: map[string]string{"k8s.io/client-go": "v0.36.3"},
	}}
}

func TestThePageHasEveryMeasure(t *testing.T) {
	files, err := compare.Page(complete(compare.Met))
	require.NoError(t, err)
	page := string(files["benchmarks.md"])
	has(t, page, "28 of 28 targets met.")
	for _, m := range compare.Measures() {
		has(t, page, "\n### "+m.Scenario+"\n")
		has(t, page, "bin/bench -only "+m.Scenario)
		has(t, page, "| ["+m.Title+"](#")
	}
	for _, m := range compare.Extras() {
		against := string(m.Against)
		if m.Scenario == compare.Servers {
			against = "a control plane"
		}
		has(t, page, "| "+m.Title+" | "+against+" |")
	}
	has(t, page, "| 1.5 µs (1.50) |")
}

// has asserts without printing the whole page.
func has(t *testing.T, page, text string) {
	t.Helper()
	assert.True(t, strings.Contains(page, text), "%q is not on the page", text)
}

func hasNot(t *testing.T, page, text string) {
	t.Helper()
	assert.False(t, strings.Contains(page, text), "%q is on the page", text)
}

// Words follow their figures: the reason for a missed target appears only while it is missed.
func TestWordsFollowFigures(t *testing.T) {
	met, err := compare.Page(complete(compare.Met))
	require.NoError(t, err)
	hasNot(t, string(met["benchmarks.md"]), "**missed**")
	hasNot(t, string(met["benchmarks.md"]), "is missed: ")

	missed, err := compare.Page(complete(compare.Missed))
	require.NoError(t, err)
	page := string(missed["benchmarks.md"])
	has(t, page, "0 of 28 targets met, 28 missed.")
	has(t, page, "Why the target for ")
	has(t, page, "| **missed** |")
}

// A changed target's former value is stated, met or not.
func TestTargetsThatWereSetAnew(t *testing.T) {
	for _, verdict := range []compare.Verdict{compare.Met, compare.Missed} {
		files, err := compare.Page(complete(verdict))
		require.NoError(t, err)
		var anew []string
		statement := regexp.MustCompile(`The target for "([^"]+)" was changed\.\s` +
			`The target was [0-9.]+, and the last full run under it had [0-9.]+\. `)
		for _, found := range statement.FindAllStringSubmatch(string(files["benchmarks.md"]), -1) {
			anew = append(anew, found[1])
		}
		var want []string
		for _, m := range compare.Measures() {
			switch m.Name {
			case "queue/cycle ns/op", "queue/cycle-metrics ns/op", "queue/add-after ns/op", "queue/add-rate-limited ns/op",
				"fifo/add-pop ns/op", "store/update ns/op", "dispatch/1 ns/event", "dispatch/16 ns/event",
				"dispatch/idle p50", "dispatch/stalled-default live MiB", "sync/json live MiB",
				"deletion/idle resident MiB":
				want = append(want, m.Title)
			}
		}
		assert.Equal(t, want, anew, "%s", verdict)
	}
}

func TestATextWithoutARecord(t *testing.T) {
	few := complete(compare.Met)
	few.Records = few.Records[1:]
	_, err := compare.Page(few)
	require.NoError(t, err, "queue/cycle has its allocations still")
	few.Records = few.Records[:10]
	_, err = compare.Page(few)
	assert.ErrorContains(t, err, "a section is about")
}
