package why_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/why"
)

// A row is a situation and what is said of it.
type row struct {
	name   string
	e      why.Evidence
	change func(*why.Evidence) // nil: none
	want   string              // "C07 proven", "no C07", or a verdict
	words  []string
}

// is returns a row: the cause, or the verdict, and words of the finding and of the report, in the
// form of told. "!" before words: they are not there; "only": no other line begins so.
func is(name string, e why.Evidence, want string, words ...string) row {
	return row{name, e, nil, want, words}
}

// once returns a row in which a change makes the difference: before it, more is claimed.
func once(name string, e why.Evidence, change func(*why.Evidence), want string, words ...string) row {
	return row{name, e, change, want, words}
}

// judged checks each row of a table.
func judged(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if r.change != nil {
				before, _ := told(why.Judge(r.e), r.want)
				assert.Greater(t, rank(before), rank(r.want), "%s before the change", before)
				r.change(&r.e)
			}
			got, lines := told(why.Judge(r.e), r.want)
			assert.Equal(t, r.want, got, lines)
			for _, words := range r.words {
				assertTold(t, lines, words)
			}
		})
	}
}

// rank orders what is said of a cause, and verdicts, by how much they claim.
func rank(said string) int {
	return slices.IndexFunc([]string{"no ", "absent", " possible", " later", " proven", "stuck"},
		func(one string) bool { return strings.Contains(said, one) })
}

// assertTold checks that lines have the words of a row.
func assertTold(t *testing.T, lines, words string) {
	t.Helper()
	if words, not := strings.CutPrefix(words, "!"); not {
		assert.NotContains(t, lines, words)
		return
	}
	if only, exact := strings.CutPrefix(words, "only "); exact {
		kind, _, _ := strings.Cut(only, ": ")
		var all []string
		for line := range strings.SplitSeq(lines, "\n") {
			if rest, is := strings.CutPrefix(line, kind+": "); is {
				all = append(all, rest)
			}
		}
		assert.Equal(t, only, kind+": "+strings.Join(all, " | "), lines)
		return
	}
	assert.Contains(t, lines, words)
}

// told returns what a report says of the cause in want, and every line of it: of the report, and
// of the cause if it is named.
func told(r why.Report, want string) (got, lines string) {
	var all strings.Builder
	say := func(kind string, texts ...string) {
		for _, text := range texts {
			fmt.Fprintf(&all, "%s: %s\n", kind, text)
		}
	}
	say("verdict", fmt.Sprintf("%s, exit %d", r.Verdict, r.ExitCode))
	say("sentence", r.Sentence)
	for _, f := range r.Findings {
		say("found", fmt.Sprintf("%s %s %s", f.ID, f.Certainty, f.Culprit))
	}
	id := strings.Fields("no " + strings.TrimPrefix(want, "no "))[1]
	if !strings.HasPrefix(id, "C") {
		return string(r.Verdict), all.String()
	}
	at := slices.IndexFunc(r.Findings, func(f why.Finding) bool { return f.ID == id })
	if at < 0 {
		return "no " + id, all.String()
	}
	f := r.Findings[at]
	say("says", f.Says)
	if f.Owner != nil {
		say("owner", fmt.Sprintf("%s, %s", f.Owner.Name, f.Owner.State))
	}
	for _, b := range f.Blocks {
		say("blocks", fmt.Sprintf("%d %s: %s", b.Count, b.Resource, strings.Join(b.Examples, ", ")))
	}
	for _, p := range f.Proof {
		say("proof", p.Says)
	}
	say("missing", f.Missing...)
	say("do", f.Do...)
	for _, remedy := range f.Remedies {
		say("run", strings.TrimPrefix(remedy.When+": "+remedy.Command, ": "))
		if remedy.Loses != "" {
			say("loses", remedy.Loses)
		}
	}
	return f.ID + " " + string(f.Certainty), all.String()
}

// find returns the finding of a cause, nil if the report does not have it.
func find(r why.Report, id string) *why.Finding {
	at := slices.IndexFunc(r.Findings, func(f why.Finding) bool { return f.ID == id })
	if at < 0 {
		return nil
	}
	return &r.Findings[at]
}
