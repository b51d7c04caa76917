package indexer_test

import (
	"testing"

	"orrery/indexer"
	"orrery/internal/hooks/hookstest"
)

func TestJoinTraces(t *testing.T) { hookstest.Run(t, indexer.JoinTraces) }
