package causes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/gears"
	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/internal/why"
	"orrery/internal/why/collect"
	"orrery/restclient/api"
)

// The textbook deleter and the fast one describe the same situation in the same words, and the
// report on them is the same: these are the causes that are judged by what conditions say.
func TestBothDeletersHaveTheSameConditions(t *testing.T) {
	textbook, err := gears.Parse(gears.Textbook)
	require.NoError(t, err)
	for _, id := range []string{"C01", "C07", "C08", "C09", "C11", "C21", "C22", "C23", "C25"} {
		t.Run(id, func(t *testing.T) {
			f, ok := causes.Find(id)
			require.True(t, ok)
			conditions, findings := map[string][]api.NamespaceCondition{}, map[string]*why.Finding{}
			for _, set := range []gears.Set{{}, textbook} {
				inWorldOf(t, set, f, f.SetUp, f.Settle, func(t *testing.T, c *clustertest.Cluster) {
					evidence, report := judged(t, c, collect.Options{})
					conditions[set.String()] = evidence.Namespace.Conditions
					findings[set.String()] = find(report, id)
					require.NotNil(t, findings[set.String()], text(t, report))
					assert.Equal(t, why.Proven, findings[set.String()].Certainty, text(t, report))
				})
			}
			fast, slow := conditions[gears.Fast], conditions[gears.Textbook]
			require.Len(t, slow, len(why.ConditionTypes))
			require.Len(t, fast, len(slow))
			for i := range slow {
				fast[i].LastTransitionTime = slow[i].LastTransitionTime // one is faster
			}
			assert.Equal(t, slow, fast)
			assert.Equal(t, findings[gears.Textbook].Says, findings[gears.Fast].Says)
			assert.Equal(t, findings[gears.Textbook].Culprit, findings[gears.Fast].Culprit)
		})
	}
}
