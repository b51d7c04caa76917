package causes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/internal/why"
	"orrery/internal/why/collect"
)

// An object waits behind the pods, and no program will remove its finalizer. The report says that
// it will stop the deletion later.
func TestLater(t *testing.T) {
	inWorld(t, causes.Fixture{}, causes.OrphanBehindPods, causes.Settled, func(t *testing.T, c *clustertest.Cluster) {
		_, report := judged(t, c, collect.Options{})
		assert.Equal(t, why.Stuck, report.Verdict)
		mustFind(t, report, "C24", why.Proven)
		later := mustFind(t, report, "C04", why.Later)
		assert.Equal(t, "orders", later.Culprit.Name)
		for _, remedy := range later.Remedies {
			assert.Empty(t, remedy.Loses, "what is not terminating is not released")
		}
		_, report = judged(t, c, collect.Options{Interval: -1})
		assert.Nil(t, find(report, "C04"), "one sample calls no owner gone")
	})
}
