package machine

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/informer/reflector"
)

var update = flag.Bool("update", false, "write the diagram of the transition table into the documentation")

// The generated part of the file is between these lines.
const (
	generatedBegin = "(generated from the transition table by: go test -run Diagram -update)"
	generatedEnd   = "(end of the generated part)"
)

// TestDiagramIsUpToDate compares the documentation with the table. -update writes it.
func TestDiagramIsUpToDate(t *testing.T) {
	const file = "TRANSITIONS.md"
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(content), generatedBegin+"\n")
	require.True(t, found, "%s has lost the line %q", file, generatedBegin)
	_, after, found := strings.Cut(rest, generatedEnd)
	require.True(t, found, "%s has lost the line %q", file, generatedEnd)
	want := before + generatedBegin + "\n\n```mermaid\n" + stateDiagram() + "```\n\n" + transitionTable() + "\n" +
		recoveryTable() + "\n" + generatedEnd + after
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(content), "%s is stale: go test -run Diagram -update", file)
}

// stateDiagram renders the table in Mermaid. Stop (to Stopped) and ResyncElapsed (to the same
// phase) are left out; they are alike in every phase.
func stateDiagram() string {
	var out strings.Builder
	out.WriteString("stateDiagram-v2\n")
	for _, row := range table {
		if row.on == inputStop || row.on == inputResyncElapsed {
			continue
		}
		fmt.Fprintf(&out, "    %s --> %s : %s\n", row.from, row.to, label(row))
	}
	return out.String()
}

func label(row transition) string {
	if row.when.text == "" {
		return row.on.String()
	}
	return fmt.Sprintf("%s [%s]", row.on, row.when.text)
}

// transitionTable renders the table in Markdown, with the effects of each row.
func transitionTable() string {
	var out strings.Builder
	out.WriteString("| in phase | happens | if | next phase | effects |\n|---|---|---|---|---|\n")
	for _, row := range table {
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", row.from, row.on, row.when.text, row.to, effectsOf(row))
	}
	return out.String()
}

// effectsOf returns the effects of a row, applied to an arbitrary state.
func effectsOf(row transition) string {
	s := newState()
	s.Phase, s.ResourceVersion, s.fetched.rv, s.request.rv = row.from, "1", "1", "1"
	if row.from == phaseListing {
		s.listing.page = 1
	}
	var do effects
	row.do(testRules(), &s, &input{kind: row.on, err: reflector.ErrIdle}, &do)
	var names []string
	for _, e := range do.list[:do.n] {
		names = append(names, e.kind.String())
	}
	return strings.Join(names, ", ")
}

// recoveryTable renders the recovery table in Markdown.
func recoveryTable() string {
	phases := []reflector.Phase{phaseOpeningStream, phaseStreaming, phaseListing, phaseOpeningWatch, phaseWatching}
	var out strings.Builder
	out.WriteString("| cause |")
	for _, phase := range phases {
		fmt.Fprintf(&out, " %s |", phase)
	}
	out.WriteString("\n|---|" + strings.Repeat("---|", len(phases)) + "\n")
	for cause := range causeCount {
		fmt.Fprintf(&out, "| %s |", cause)
		for _, phase := range phases {
			fmt.Fprintf(&out, " %s |", recoveryFor(phase, cause))
		}
		out.WriteString("\n")
	}
	return out.String()
}
