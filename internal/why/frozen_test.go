package why_test

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// hostile has what ends a word of a shell, a quotation and a line, and what moves a cursor.
const hostile = "x;id>pwned;#'\"`$(pwned)\\\n\x1b[2K: kubectl pwned"

// inQuotes matches what a shell takes as one word, whatever is in it.
var inQuotes = regexp.MustCompile(`\$'(?:[^'\\]|\\.)*'|'[^']*'|\\'`)

// Whatever a server calls an object, a type, a user or a Service: in a command it is one word, on
// one line. Each string of each case is changed, everywhere in the evidence of that case; with
// -short each fourth.
func TestAServersTextIsNoCommand(t *testing.T) {
	commands := 0
	for _, one := range frozen(t) {
		if len(one.Case) > len("C00") {
			continue // near misses and pairs have the same strings
		}
		for i, value := range slices.Sorted(maps.Keys(stringsOf(t, one.Evidence))) {
			if !testing.Short() || i%4 == 0 {
				commands += assertNoCommand(t, one.Case, one.Evidence, value)
			}
		}
	}
	assert.Greater(t, commands, 20, "commands with a hostile word")
}

// stringsOf returns the strings of a JSON document that are no keys.
func stringsOf(t *testing.T, document json.RawMessage) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case string:
			all[v] = true
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	var root any
	require.NoError(t, json.Unmarshal(document, &root))
	walk(root)
	return all
}

// assertNoCommand judges a case in which a string is hostile, and returns how many commands have
// it.
func assertNoCommand(t *testing.T, name string, evidence json.RawMessage, value string) (commands int) {
	t.Helper()
	before, err := json.Marshal(value)
	require.NoError(t, err)
	after, err := json.Marshal(value + hostile)
	require.NoError(t, err)
	var e why.Evidence
	if json.Unmarshal([]byte(strings.ReplaceAll(string(evidence), string(before), string(after))), &e) != nil {
		return 0 // a time, for example
	}
	e.Cluster = "--context 'a b'"
	report := why.Judge(e)
	for _, found := range report.Findings {
		for _, remedy := range found.Remedies {
			bare := inQuotes.ReplaceAllString(remedy.Command, "")
			assert.NotRegexp(t, `pwned|[\x00-\x1f"]|\$\(`, bare, "%s: %q is hostile: %s", name, value, remedy.Command)
			if strings.Contains(remedy.Command, "pwned") {
				commands++
			}
		}
		for _, do := range found.Do { // a command ends a text, and the hostile word is no command of ours
			_, command, ok := strings.Cut(do, "kubectl --context 'a b' ")
			if ok && !strings.HasPrefix(command, "pwned") {
				bare := inQuotes.ReplaceAllString(command, "")
				assert.NotRegexp(t, `pwned|[\x00-\x1f]|\$\(`, bare, "%s: %q is hostile: %s", name, value, do)
			}
		}
	}
	var text strings.Builder
	require.NoError(t, why.WritePlan(&text, report))
	require.NoError(t, report.WriteText(&text, true, 0))
	assert.NotRegexp(t, `(?m)^(\x1b|kubectl pwned)`, text.String(), "%s: %q begins a line", name, value)
	return commands
}

// A type that kube-apiserver itself would not accept comes from the server of another API: it is
// shown in quotes, and has no command.
func TestATypeWhoseNameIsNone(t *testing.T) {
	e := calm(orphan("widgets;id>pwned;#", "evil.io", "example.com/x"))
	report := why.Judge(e)
	require.NotEmpty(t, report.Findings)
	for _, found := range report.Findings {
		assert.Empty(t, found.Remedies, found.ID)
	}
	var text strings.Builder
	require.NoError(t, report.WriteText(&text, true, 0))
	assert.Contains(t, text.String(), `"widgets;id>pwned;#.evil.io"/a`)
}

// Evidence from a file names a namespace, which commands have. Its owner alone can read it.
func TestEvidenceOfNoNamespace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evidence.json")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	require.NoError(t, why.Evidence{Name: "shop; id"}.Save(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	assert.ErrorContains(t, why.Evidence{}.Save(filepath.Dir(path)), "is not a regular file")
	_, err = why.Load(path)
	assert.ErrorContains(t, err, `"shop; id" is not the name of a namespace`)
}
