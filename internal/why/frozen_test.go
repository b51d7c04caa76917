package why_test

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

var update = flag.Bool("update", false, "write testdata/frozen.txt, or the page")

// Evidence that was saved once from every fixture, every near miss and some pairs of fixtures is
// judged as it was then. A change of testdata/frozen.txt may say less of a case, never more.
func TestFrozenEvidence(t *testing.T) {
	var judged strings.Builder
	for _, one := range frozen(t) {
		var evidence why.Evidence
		require.NoError(t, json.Unmarshal(one.Evidence, &evidence))
		report := why.Judge(evidence)
		fmt.Fprintf(&judged, "%s: %s\n", one.Case, report.Verdict)
		for _, found := range report.Findings {
			fmt.Fprintf(&judged, "  %s %s: %s\n", found.ID, found.Certainty, found.Culprit)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/frozen.txt", []byte(judged.String()), 0o600))
	}
	want, err := os.ReadFile("testdata/frozen.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), judged.String(), "what is said of evidence that has not changed")
}

// frozenCase is one that was saved.
type frozenCase struct {
	Case     string          `json:"case"`
	Evidence json.RawMessage `json:"evidence"`
}

func frozen(t *testing.T) (cases []frozenCase) {
	t.Helper()
	file, err := os.Open("testdata/frozen.jsonl.gz")
	require.NoError(t, err)
	defer file.Close()
	text, err := gzip.NewReader(file)
	require.NoError(t, err)
	for decoder := json.NewDecoder(text); decoder.More(); {
		var one frozenCase
		require.NoError(t, decoder.Decode(&one))
		cases = append(cases, one)
	}
	require.NotEmpty(t, cases)
	return cases
}
