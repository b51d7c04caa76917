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
		nsctltest.ReadsAnswers:          "steps run one after the other, as in the articles",
		nsctltest.ChecksEmptiness:       "each namespace is checked separately, as in the articles",
		nsctltest.ForgivesVanishedTypes: "the next pass repeats discovery, which no longer lists the type",
		nsctltest.SkipsLastReport:       "each pass reports, as in the articles",
		nsctltest.DeletesFinalized:      "servers remove a namespace with its last finalizer since 1.2",
	}})
}

// The number of requests of the textbook form. The fast form makes 36 of them.
func TestAnEmptyNamespaceCosts67Requests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nsctltest.NewCluster()
		c.AddNamespace("empty", true, "kubernetes")
		require.NoError(t, nsctltest.NewDeleter(t, c, nsctl.NewDeleter).Delete(t.Context(), "empty"))
		assert.Nil(t, c.Namespace("empty"))
		assert.Len(t, c.Log(), 67)
	})
}
