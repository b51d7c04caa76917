package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHooksThatAreNotSetAllocateNothing(t *testing.T) {
	for _, trace := range []*Trace{nil, {}} {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			trace.committed(configMaps, Event{})
			trace.expired(ErrDropped)
			trace.rebuilt(configMaps, 1, 1)
			trace.compacted(1)
			trace.dropped(configMaps)
		}))
	}
}
