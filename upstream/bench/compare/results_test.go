package main_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	compare "orrery/upstream/bench/compare"
)

// results returns made-up records.
func results() compare.Results {
	modules := map[string]string{"k8s.io/client-go": "v0.36.3"}
	return compare.Results{Machine: compare.Machine{Modules: modules},
		Records: []compare.Record{
			{Measure: compare.Measure{Name: "queue/cycle ns/op", Unit: "ns/op", Better: bench.Lower,
				Kind: compare.Ratio, Target: 0.25},
				Ours: 31, Theirs: 132, Ratio: 31.0 / 132, Spread: 0.06, Rounds: 5, Verdict: compare.Met, Low: 0.22,
				High:  0.26,
				Proof: "2000000 keys came out", Textbook: &compare.TextbookRecord{Figure: 440, Ratio: 440.0 / 132}},
			{Measure: compare.Measure{Name: "queue/cycle allocs/op", Unit: "allocs/op", Better: bench.Lower,
				Kind: compare.Value},
				Ours: 0, Theirs: 1, Rounds: 5, Verdict: compare.Met, Proof: "2000000 keys came out"},
			{Measure: compare.Measure{Name: "queue/cycle against", Unit: "ns", Better: bench.Lower, Kind: compare.None},
				Ours: 1e5, Theirs: 2e5, Ratio: 0.5, Rounds: 5, Verdict: compare.Shown, Low: 0.4, High: 0.6},
		}}
}

// Programs read build/bench.json: the machine and one record a measure, with these fields.
func TestTheRecordsAsPrograms(t *testing.T) {
	text, err := results().JSON()
	require.NoError(t, err)
	var read struct{ Records []map[string]any }
	require.NoError(t, json.Unmarshal(text, &read))
	require.Len(t, read.Records, 3)
	assert.Equal(t, map[string]any{
		"name": "queue/cycle ns/op", "unit": "ns/op", "ours": 31.0, "theirs": 132.0, "ratio": 31.0 / 132,
		"spread": 0.06,
		"target": 0.25, "better": "lower", "target_kind": "ratio", "rounds": 5.0, "verdict": "met", "low": 0.22,
		"high":  0.26,
		"proof": "2000000 keys came out", "textbook": map[string]any{"figure": 440.0, "ratio": 440.0 / 132},
	}, read.Records[0])
	assert.Contains(t, read.Records[1], "target", "a target of nothing is one")
	assert.NotContains(t, read.Records[1], "textbook", "no textbook form did this work")
}

func TestTheTable(t *testing.T) {
	var text strings.Builder
	require.NoError(t, results().WriteTable(&text))
	assert.Equal(t, strings.TrimLeft(`
measure                ours      theirs    textbook       ratio  rounds     target      verdict
queue/cycle ns/op      31 ns     132 ns    440 ns (3.33)  0.23   0.22–0.26  ≤ 0.25      met
queue/cycle allocs/op  0 allocs  1 allocs                 0.00   0.00–0.00  ≤ 0 allocs  met
queue/cycle against    100 µs    200 µs                   0.50   0.40–0.60              shown

2 of 2 targets met.
`, "\n"), text.String())
}
