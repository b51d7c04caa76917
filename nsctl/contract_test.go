package nsctl_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/nsctl/nsctltest"
)

func TestContract(t *testing.T) {
	nsctltest.Run(t, nsctltest.Form{New: nsctl.NewDeleter, Lacks: map[nsctltest.Capability]string{
		nsctltest.LooksFirst:      "delete, then list, as in the articles",
		nsctltest.ReadsAnswers:    "steps run one after the other, as in the articles",
		nsctltest.ChecksEmptiness: "each namespace is checked separately, as in the articles",
		nsctltest.SkipsLastReport: "each pass reports, as in the articles",
	}})
}

// The number of requests of the textbook form: a GET, a DELETE and a LIST for each of 30 types. The
// fast form needs 36.
func TestAnEmptyNamespaceCosts97Requests(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		c.AddNamespace("empty", true, "kubernetes")
		require.NoError(t, nsctltest.NewDeleter(t, c, nsctl.NewDeleter).Delete(t.Context(), "empty"))
		assert.Nil(t, c.Namespace("empty"))
		assert.Len(t, c.Log(), 97)
	})
}
