package deltafifo_test

import (
	"testing"

	"orrery/deltafifo"
	"orrery/internal/hooks/hookstest"
)

func TestJoinTraces(t *testing.T) { hookstest.Run(t, deltafifo.JoinTraces[string]) }
