package fast_test

import (
	"testing"

	"orrery/nsctl/fast"
	"orrery/nsctl/nsctltest"
)

func TestContract(t *testing.T) {
	nsctltest.Run(t, nsctltest.Form{New: fast.NewDeleter})
}
