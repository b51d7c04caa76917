package reflector_test

import (
	"testing"

	"orrery/informer/reflector"
	"orrery/internal/hooks/hookstest"
)

func TestJoinTraces(t *testing.T) { hookstest.Run(t, reflector.JoinTraces) }
