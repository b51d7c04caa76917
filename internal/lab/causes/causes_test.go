package causes_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/internal/why"
	"orrery/internal/why/collect"
	"orrery/restclient/api"
)

// inEach runs a test in the situation of each cause but these.
func inEach(t *testing.T, but []string, test func(t *testing.T, f causes.Fixture, c *clustertest.Cluster)) {
	for _, f := range causes.Fixtures() {
		if !slices.Contains(but, f.ID) {
			t.Run(f.ID, func(t *testing.T) {
				inWorld(t, f, f.SetUp, f.Settle, func(t *testing.T, c *clustertest.Cluster) { test(t, f, c) })
			})
		}
	}
}

// judged collects and judges.
func judged(t *testing.T, c *clustertest.Cluster, options collect.Options) (why.Evidence, why.Report) {
	t.Helper()
	evidence, err := collect.Collect(t.Context(), c.Admin(), causes.Namespace, options)
	require.NoError(t, err)
	return evidence, why.Judge(evidence)
}

func text(t *testing.T, r why.Report) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, r.WriteText(&out, true, 0))
	return out.String()
}

func find(r why.Report, id string) *why.Finding {
	at := slices.IndexFunc(r.Findings, func(f why.Finding) bool { return f.ID == id })
	if at < 0 {
		return nil
	}
	return &r.Findings[at]
}

// mustFind returns the finding of a cause, which must be this certain.
func mustFind(t *testing.T, r why.Report, id string, certainty why.Certainty) why.Finding {
	t.Helper()
	found := find(r, id)
	require.NotNil(t, found, text(t, r))
	assert.Equal(t, certainty, found.Certainty, text(t, r))
	return *found
}

// Each cause is found in its own situation, with the right culprit, and no other cause is proven.
// What was saved gives the same report.
func TestCause(t *testing.T) {
	inEach(t, nil, func(t *testing.T, f causes.Fixture, c *clustertest.Cluster) {
		evidence, report := judged(t, c, collect.Options{})
		shown := text(t, report)
		t.Log("\n" + shown)
		found := mustFind(t, report, f.ID, certaintyOf(f))
		assert.Equal(t, f.Culprit, found.Culprit)
		assert.NotEmpty(t, found.Proof)
		assert.NotEmpty(t, found.Do)
		for _, other := range report.Findings {
			assert.True(t, other.ID == f.ID || other.Certainty != why.Proven || slices.Contains(f.Also, other.ID),
				"%s is named as well\n%s", other.ID, shown)
		}
		evidence.Cluster = "--context c"
		assertCommands(t, why.Judge(evidence))
		assertSaved(t, evidence, report)
		assertUpstreamForm(t, f, evidence)
	})
}

// assertCommands checks that every command names the cluster if one was chosen, and an object or
// none.
func assertCommands(t *testing.T, report why.Report) {
	t.Helper()
	for _, finding := range report.Findings {
		for _, remedy := range finding.Remedies {
			for _, program := range []string{"kubectl ", "orrery why ", "orrery run"} {
				assert.Equal(t, strings.Count(remedy.Command, program),
					strings.Count(remedy.Command, strings.TrimSpace(program)+" --context c"), remedy.Command)
			}
			assert.NotContains(t, remedy.Command, " '*'")
		}
	}
}

func assertSaved(t *testing.T, evidence why.Evidence, report why.Report) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "evidence.json")
	require.NoError(t, evidence.Save(path))
	loaded, err := why.Load(path)
	require.NoError(t, err)
	var first, again bytes.Buffer
	require.NoError(t, why.WriteJSON(&first, report))
	require.NoError(t, why.WriteJSON(&again, why.Judge(loaded)))
	assert.Equal(t, first.String(), again.String())
}

// assertUpstreamForm checks that the cause is proven as well if ContentRemaining and
// FinalizersRemaining are False, as kube-controller-manager leaves them while pods remain.
func assertUpstreamForm(t *testing.T, f causes.Fixture, evidence why.Evidence) {
	t.Helper()
	if f.ID == "C20" {
		return // what the two controllers disagree about is ContentRemaining
	}
	namespaces := []*why.Namespace{evidence.Namespace}
	if evidence.Second != nil {
		namespaces = append(namespaces, evidence.Second.Namespace)
	}
	for _, n := range namespaces {
		for i, condition := range n.Conditions {
			switch condition.Type {
			case api.NamespaceContentRemaining:
				n.Conditions[i].Status, n.Conditions[i].Reason, n.Conditions[i].Message = api.ConditionFalse,
					"ContentRemoved", "All content successfully removed"
			case api.NamespaceFinalizersRemaining:
				n.Conditions[i].Status, n.Conditions[i].Reason = api.ConditionFalse, "ContentHasNoFinalizers"
				n.Conditions[i].Message = "All content-preserving finalizers finished"
			}
		}
	}
	report := why.Judge(evidence)
	found := mustFind(t, report, f.ID, certaintyOf(f))
	assert.Equal(t, f.Culprit, found.Culprit)
}

// unproven are the causes that are never proven: no request shows that an owner is not in the
// cluster, and under which identity it works.
var unproven = []string{"C05", "C06"}

// certaintyOf is how certain a cause is in its own situation.
func certaintyOf(f causes.Fixture) why.Certainty {
	if slices.Contains(unproven, f.ID) {
		return why.Possible
	}
	return why.Proven
}

// What only looks like a cause is not named.
func TestNearMiss(t *testing.T) {
	for _, f := range causes.Fixtures() {
		t.Run(f.ID, func(t *testing.T) {
			inWorld(t, f, f.NearMiss, cmp.Or(f.NearMissSettle, f.Settle), func(t *testing.T, c *clustertest.Cluster) {
				_, report := judged(t, c, collect.Options{})
				assert.Nil(t, find(report, f.ID), text(t, report))
			})
		})
	}
}

var update = flag.Bool("update", false, "write the examples into the package why")

// What the page shows of each cause is what kubectl describe says of its fixture.
func TestExamples(t *testing.T) {
	const path = "../../why/testdata/examples.json"
	examples, recorded := map[string][]string{}, map[string][]string{}
	inEach(t, nil, func(t *testing.T, f causes.Fixture, c *clustertest.Cluster) {
		evidence, _ := judged(t, c, collect.Options{Interval: -1})
		examples[f.ID] = described(evidence.Namespace)
	})
	if *update {
		var text bytes.Buffer
		require.NoError(t, why.WriteJSON(&text, examples))
		require.NoError(t, os.WriteFile(path, text.Bytes(), 0o644))
		return
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &recorded))
	assert.Equal(t, recorded, examples,
		"run: go test ./internal/lab/causes -run TestExamples -update && go test ./internal/why -run Page -update")
}

// described is what kubectl describe says of a namespace, with the conditions that are True.
func described(n *why.Namespace) []string {
	if n.Deleted.IsZero() {
		return []string{"Status: Active"}
	}
	lines := []string{"Status: Terminating"}
	for _, c := range n.Conditions {
		if c.Status == api.ConditionTrue && slices.Contains(why.ConditionTypes, c.Type) {
			lines = append(lines, fmt.Sprintf("%s  True  %s  %s", c.Type, c.Reason, c.Message))
		}
	}
	switch {
	case len(n.Conditions) == 0:
		return append(lines, "(no conditions)")
	case len(lines) == 1:
		return append(lines, "(no condition is True)")
	}
	return lines
}

// The textbook deleter and the fast one describe the same situation in the same words, and the
// report on them is the same: these are the causes that are judged by what conditions say.
func TestBothDeletersHaveTheSameConditions(t *testing.T) {
	textbook, err := gears.Parse(gears.Textbook)
	require.NoError(t, err)
	for _, id := range []string{"C01", "C07", "C08", "C09", "C11", "C21", "C22", "C23", "C25"} {
		t.Run(id, func(t *testing.T) {
			f, ok := causes.Find(id)
			require.True(t, ok)
			var conditions [2][]api.NamespaceCondition
			var findings [2]why.Finding
			for i, set := range []gears.Set{{}, textbook} {
				inWorldOf(t, set, f, f.SetUp, f.Settle, func(t *testing.T, c *clustertest.Cluster) {
					evidence, report := judged(t, c, collect.Options{})
					conditions[i] = evidence.Namespace.Conditions
					findings[i] = mustFind(t, report, id, why.Proven)
				})
			}
			fast, slow := conditions[0], conditions[1]
			require.Len(t, slow, len(why.ConditionTypes))
			require.Len(t, fast, len(slow))
			for i := range slow {
				fast[i].LastTransitionTime = slow[i].LastTransitionTime // one is faster
			}
			assert.Equal(t, slow, fast)
			assert.Equal(t, findings[1].Says, findings[0].Says)
			assert.Equal(t, findings[1].Culprit, findings[0].Culprit)
		})
	}
}

// Two causes in one namespace are both named, each with its own culprit and in the order of the
// catalogue, unless the catalogue says that one hides the other. No third cause is proven. All
// pairs but those with C29, which excludes the others: 406; with -short each sixteenth.
func TestPairs(t *testing.T) {
	var all []causes.Fixture
	for _, f := range causes.Fixtures() {
		if f.ID != "C29" {
			all = append(all, f)
		}
	}
	pairs := 0
	for i, first := range all {
		for _, second := range all[i+1:] {
			pairs++
			if testing.Short() && pairs%16 != 0 {
				continue
			}
			t.Run(first.ID+" "+second.ID, func(t *testing.T) {
				t.Parallel()
				pair(t, first, second)
			})
		}
	}
	assert.Equal(t, 406, pairs)
}

// laterOrUnproven act later, wait, or are never proven.
var laterOrUnproven = []string{"C06", "C16", "C17", "C18", "C27"}

func pair(t *testing.T, first, second causes.Fixture) {
	both := []causes.Fixture{first, second}
	without := causes.Fixture{NoController: slices.ContainsFunc(both,
		func(f causes.Fixture) bool { return f.ID == "C19" })}
	setUp := func(w *causes.World) { causes.Together(w, first, second) }
	inWorld(t, without, setUp, time.Millisecond, func(t *testing.T, c *clustertest.Cluster) {
		_, report := judged(t, c, collect.Options{})
		shown := text(t, report)
		for i, f := range both {
			named := slices.ContainsFunc(report.Findings, func(found why.Finding) bool {
				// a pod of kube-controller-manager is ready beside the expired Lease
				ready := f.ID == "C19" && second.ID == "C17"
				return found.ID == f.ID && (found.Culprit == f.Culprit || ready)
			})
			other, _ := why.Lookup(both[1-i].ID)
			assert.True(t, named || slices.Contains(other.Hides, f.ID), "%s is not named\n%s", f.ID, shown)
		}
		also := slices.Concat(first.Also, second.Also, []string{first.ID, second.ID})
		var order []int
		for _, found := range report.Findings {
			assert.True(t, found.Certainty != why.Proven || slices.Contains(also, found.ID), "%s is named as well\n%s",
				found.ID, shown)
			order = append(order, slices.IndexFunc(why.Catalogue(), func(c why.Cause) bool { return c.ID == found.ID }))
		}
		assert.True(t, slices.IsSorted(order), "%v\n%s", order, shown)
		switch {
		case second.ID == "C30": // without a right, a cause may not be provable
		case first.ID == "C19" && second.ID == "C17": // a pod of kube-controller-manager is ready, with the namespace controller on
			assert.Equal(t, why.Possible, find(report, "C19").Certainty, shown)
		// never proven, beside what acts later or waits
		case slices.Contains(unproven, first.ID) && slices.Contains(laterOrUnproven, second.ID):
			assert.Equal(t, why.Unknown, report.Verdict, shown)
		default:
			assert.NotEqual(t, why.Unknown, report.Verdict, shown)
		}
	})
}
