package informer_test

import (
	"testing"

	"orrery/informer"
	"orrery/internal/hooks/hookstest"
)

func TestJoinTraces(t *testing.T) { hookstest.Run(t, informer.JoinTraces) }
