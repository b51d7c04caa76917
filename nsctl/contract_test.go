package nsctl_test

import (
	"testing"

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
