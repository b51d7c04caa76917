package causes_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/internal/why"
	"orrery/internal/why/collect"
)

// Every terminating namespace has the report that it has alone, and each type is listed once for
// all.
func TestAllNamespaces(t *testing.T) {
	setUp := causes.Several
	inWorld(t, causes.Fixture{}, setUp, causes.Settled, func(t *testing.T, c *clustertest.Cluster) {
		_, alone := judged(t, c, collect.Options{})
		all, err := collect.CollectAll(t.Context(), c.Admin(), collect.Options{})
		require.NoError(t, err)
		for _, e := range all { // what was read once is in the evidence of each
			assert.Equal(t, []any{all[0].Server, all[0].APIServices, all[0].Managers, all[0].Leases},
				[]any{e.Server, e.APIServices, e.Managers, e.Leases}, e.Name)
		}
		reports := why.JudgeAll(all)
		require.Len(t, reports.Reports, 11)
		assert.Equal(t, why.ExitUnknown, reports.ExitCode)
		for _, r := range reports.Reports {
			if r.Namespace == causes.Namespace {
				assert.Equal(t, alone.Verdict, r.Verdict, text(t, r))
				assert.Equal(t, find(alone, "C04").Certainty, find(r, "C04").Certainty)
				assert.Equal(t, find(alone, "C04").Remedies, find(r, "C04").Remedies)
				continue
			}
			assert.Equal(t, 1, r.Checked.Objects, r.Namespace)
			assert.Nil(t, find(r, "C30"), text(t, r))
		}
		// of each other namespace: it, what holds its object, and both again
		assert.LessOrEqual(t, reports.Reports[0].Checked.Requests, alone.Checked.Requests+1+4*10, "each type is listed once for all")
		var out strings.Builder
		require.NoError(t, reports.WriteText(&out, 0))
		assert.Contains(t, out.String(), "NAMESPACE")
		assert.Len(t, regexp.MustCompile(`(?m)^\S`).FindAllString(out.String(), -1), 12, out.String())
	})
}

// A type that can be listed in one namespace and not in another fails in a list of both: it is
// unread only where it cannot be listed.
func TestATypeThatOneNamespaceBreaks(t *testing.T) {
	f, ok := causes.Find("C23")
	require.True(t, ok)
	setUp := func(w *causes.World) {
		f.SetUp(w)
		causes.Waiting("other")(w)
	}
	inWorld(t, f, setUp, f.Settle, func(t *testing.T, c *clustertest.Cluster) {
		all, err := collect.CollectAll(t.Context(), c.Admin(), collect.Options{})
		require.NoError(t, err)
		reports := why.JudgeAll(all).Reports
		require.Len(t, reports, 2)
		assert.Equal(t, "other", reports[0].Namespace)
		assert.Empty(t, reports[0].Checked.Unread)
		assert.Nil(t, find(reports[0], "C23"), text(t, reports[0]))
		assert.Equal(t, []string{"secrets"}, reports[1].Checked.Unread)
		found := find(reports[1], "C23")
		require.NotNil(t, found, text(t, reports[1]))
		assert.Equal(t, why.Proven, found.Certainty)
	})
}
