package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// endState is the outcome of a scenario with one subject: named facts, the same for each subject.
// They should cover everything by which a user of the API could tell the subjects apart.
type endState map[string]string

// note adds a fact, which must be new.
func (s endState) note(fact, value string) {
	if old, ok := s[fact]; ok {
		panic(fmt.Sprintf("fact %q is %q already and cannot become %q", fact, old, value))
	}
	s[fact] = value
}

// String returns the facts, one a line.
func (s endState) String() string {
	var text strings.Builder
	for _, fact := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&text, "%s: %s\n", fact, s[fact])
	}
	return text.String()
}

// recording makes the tests record the original's outcomes on the genuine server. Without it they
// are compared with the record, so that "make nightly" finds an outdated one.
var recording = os.Getenv("E2E_RECORD") != ""

func recordFile(scenario string) string {
	return filepath.Join("testdata", "original", scenario+".json")
}

// recorded returns the recorded outcome of the original on the genuine server.
func recorded(t *testing.T, scenario string) endState {
	t.Helper()
	text, err := os.ReadFile(recordFile(scenario))
	require.NoError(t, err, "there is no record of the original in this scenario: record it by E2E_MATRIX=whole E2E_RECORD=1")
	var state endState
	require.NoError(t, json.Unmarshal(text, &state))
	return state
}

// record stores the original's outcome.
func record(t *testing.T, scenario string, state endState) {
	t.Helper()
	text, err := json.MarshalIndent(state, "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(recordFile(scenario)), 0o755))
	require.NoError(t, os.WriteFile(recordFile(scenario), append(text, '\n'), 0o644))
}

// difference is one intended difference between end states: orrery's from the original's, or the
// server in memory's from the genuine one's.
type difference struct {
	// name describes it in a few words.
	name string
	// point is its letter in the project's requirements; only for differences between subjects.
	point string
	// scenario is the test in which it must appear.
	scenario string
	// reason is why it is better.
	reason string
	// deleter is the form of the deleter (fast or textbook, see E2E_GEARS) that has it; empty for
	// both.
	deleter string
	// subject is the one that has it; only for differences between platforms, and empty for all
	// subjects.
	subject string
	// facts holds the differing facts, with both values.
	facts map[string]pair
}

// pair is a differing fact. The empty string stands for an absent one.
type pair struct{ original, ours string }

// compareAll compares the subjects on each platform and then the platforms for each subject. It
// leaves out pairings that -run did not select.
func compareAll(scenario string, outcomes map[pairing]endState) []string {
	var problems []string
	for _, platform := range platformsFor(scenario) {
		original, ours := outcomes[pairing{platform.Name, BuiltIn().Name}], outcomes[pairing{platform.Name, Orrery().Name}]
		if len(original) == 0 || len(ours) == 0 {
			continue
		}
		for _, problem := range compare("original", original, "orrery", ours, intendedFor(scenario)) {
			problems = append(problems, "on "+platform.Name+": "+problem)
		}
	}
	for _, subject := range Subjects() {
		genuine, inMemory := outcomes[pairing{Kubernetes().Name, subject.Name}], outcomes[pairing{InMemory().Name, subject.Name}]
		if len(genuine) == 0 || len(inMemory) == 0 {
			continue
		}
		for _, problem := range compare(Kubernetes().Name, genuine, InMemory().Name, inMemory, intendedOnPlatforms(scenario, subject)) {
			problems = append(problems, "with "+subject.Name+": "+problem)
		}
	}
	return problems
}

// compare returns a sentence for each unintended difference, and for each intended one that is
// absent.
func compare(first string, original endState, second string, ours endState, intended []difference) []string {
	expected := map[string]pair{}
	owner := map[string]string{}
	for _, d := range intended {
		for fact, values := range d.facts {
			expected[fact], owner[fact] = values, d.name
		}
	}
	facts := map[string]bool{}
	for _, state := range []endState{original, ours} {
		for fact := range state {
			facts[fact] = true
		}
	}
	for fact := range expected {
		facts[fact] = true
	}

	var problems []string
	for fact := range facts {
		got := pair{original[fact], ours[fact]}
		want, isIntended := expected[fact]
		switch {
		case isIntended && got != want:
			problems = append(problems, fmt.Sprintf("%s: the intended difference %q is not as listed:\n  %s, listed: %s\n  %s, found: %s\n  %s, listed: %s\n  %s, found: %s",
				fact, owner[fact], first, want.original, first, got.original, second, want.ours, second, got.ours))
		case !isIntended && got.original != got.ours:
			problems = append(problems, fmt.Sprintf("%s: this difference is not intended:\n  %s: %s\n  %s: %s", fact, first, got.original, second, got.ours))
		}
	}
	slices.Sort(problems)
	return problems
}
