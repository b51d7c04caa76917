package nsctl_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/nsctl/nsctltest"
)

func TestContract(t *testing.T) {
	nsctltest.Run(t, nsctltest.Form{New: nsctl.NewDeleter, Lacks: map[nsctltest.Capability]string{
		nsctltest.ReadsAnswers:          "one step after the other, as the articles have it",
		nsctltest.ChecksEmptiness:       "each namespace for itself, as the articles have it",
		nsctltest.ForgivesVanishedTypes: "the next pass discovers anew, and does not see the type any more",
		nsctltest.SkipsLastReport:       "each pass reports, as the articles have it",
		nsctltest.DeletesFinalized:      "servers remove a namespace with its last finalizer since 1.2",
	}})
}

// What the page costs. The fast form makes 36 requests of them.
func TestAnEmptyNamespaceCosts67Requests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nsctltest.NewCluster()
		c.AddNamespace("empty", true, "kubernetes")
		require.NoError(t, nsctltest.NewDeleter(t, c, nsctl.NewDeleter).Delete(t.Context(), "empty"))
		assert.Nil(t, c.Namespace("empty"))
		assert.Len(t, c.Log(), 67)
	})
}
