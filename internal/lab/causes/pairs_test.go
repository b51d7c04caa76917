package causes_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/internal/why"
	"orrery/internal/why/collect"
)

// hides reports whether one cause removes the evidence of the other.
func hides(one, other causes.Fixture) bool {
	cause, _ := why.Lookup(one.ID)
	return slices.Contains(cause.Hides, other.ID)
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

func pair(t *testing.T, first, second causes.Fixture) {
	both := []causes.Fixture{first, second}
	without := causes.Fixture{NoController: slices.ContainsFunc(both, func(f causes.Fixture) bool { return f.ID == "C19" })}
	setUp := func(w *causes.World) { causes.Together(w, first, second) }
	inWorld(t, without, setUp, time.Millisecond, func(t *testing.T, c *clustertest.Cluster) {
		_, report := judged(t, c, collect.Options{})
		shown := text(t, report)
		for i, f := range both {
			named := slices.ContainsFunc(report.Findings, func(found why.Finding) bool {
				ready := f.ID == "C19" && second.ID == "C17" // a pod of kube-controller-manager is ready beside the expired Lease
				return found.ID == f.ID && (found.Culprit == f.Culprit || ready)
			})
			assert.True(t, named || hides(both[1-i], f), "%s is not named\n%s", f.ID, shown)
		}
		also := slices.Concat(first.Also, second.Also, []string{first.ID, second.ID})
		var order []int
		for _, found := range report.Findings {
			assert.True(t, found.Certainty != why.Proven || slices.Contains(also, found.ID), "%s is named as well\n%s", found.ID, shown)
			order = append(order, slices.IndexFunc(why.Catalogue(), func(c why.Cause) bool { return c.ID == found.ID }))
		}
		assert.True(t, slices.IsSorted(order), "%v\n%s", order, shown)
		switch {
		case second.ID == "C30": // without a right, a cause may not be provable
		case first.ID == "C19" && second.ID == "C17": // a pod of kube-controller-manager is ready, with the namespace controller on
			assert.Equal(t, why.Possible, find(report, "C19").Certainty, shown)
		case first.ID == "C05" && slices.Contains([]string{"C16", "C17", "C18", "C27"}, second.ID): // never proven, beside what acts later or waits
			assert.Equal(t, why.Unknown, report.Verdict, shown)
		default:
			assert.NotEqual(t, why.Unknown, report.Verdict, shown)
		}
	})
}
