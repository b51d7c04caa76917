package nsctl_test

import (
	"testing"

	"orrery/internal/hooks/hookstest"
	"orrery/nsctl"
)

func TestJoinTraces(t *testing.T) { hookstest.Run(t, nsctl.JoinTraces) }
