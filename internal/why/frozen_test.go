package why_test

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

var update = flag.Bool("update", false, "write testdata/frozen.txt")

// Evidence that was saved once from every fixture, every near miss and some pairs of fixtures is
// judged as it was then. A change of testdata/frozen.txt may say less of a case, never more.
func TestFrozenEvidence(t *testing.T) {
	var judged strings.Builder
	cases := frozen(t)
	for {
		var one struct {
			Case     string       `json:"case"`
			Evidence why.Evidence `json:"evidence"`
		}
		err := cases.Decode(&one)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		report := why.Judge(one.Evidence)
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

func frozen(t *testing.T) *json.Decoder {
	t.Helper()
	file, err := os.Open("testdata/frozen.jsonl.gz")
	require.NoError(t, err)
	t.Cleanup(func() { file.Close() })
	text, err := gzip.NewReader(file)
	require.NoError(t, err)
	return json.NewDecoder(text)
}
