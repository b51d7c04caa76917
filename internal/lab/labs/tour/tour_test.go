package tour_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/labs/tour"
)

func TestWhatIsWrongWithAStopIsNamed(t *testing.T) {
	repository, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	for want, spoil := range map[string]func(*tour.Tour){
		"14 stops of 3 minutes, not 15 stops in 45 minutes":       func(t *tour.Tour) { t.Stops = t.Stops[:14] },
		"15 stops of 4 minutes, not 15 stops in 45 minutes":       func(t *tour.Tour) { t.Minutes = 4 },
		"stop 3 lacks a language":                                 func(t *tour.Tour) { t.Stops[2].Look.Chinese = "" },
		"stop 4 lacks a language":                                 func(t *tour.Tour) { t.Stops[3].Question.English = " " },
		"stop 5: \"deltafifo/fifo.go: DeltaFIFO.Push\": the file": func(t *tour.Tour) { t.Stops[4].At = "deltafifo/fifo.go: DeltaFIFO.Push" },
		"stop 5: \"deltafifo/fifo.go\" is not a declaration":      func(t *tour.Tour) { t.Stops[4].At = "deltafifo/fifo.go" },
	} {
		trip, err := tour.Load(repository)
		require.NoError(t, err)
		assert.Empty(t, trip.Problems(repository))
		spoil(trip)
		problems := trip.Problems(repository)
		require.Len(t, problems, 1, want)
		assert.Contains(t, problems[0], want)
	}
}
