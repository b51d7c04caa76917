package chaos

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
)

var recordings = flag.String("record", "", "the directory for a recording of each seed, for lab replay")

// startRecording starts to record a run of this kind; nil without the flag.
func startRecording(p Plan) (*trace.Recorder, error) {
	if *recordings == "" {
		return nil, nil
	}
	return trace.Start(trace.Config{
		Header: trace.Header{Run: "chaos", Mode: "chaos", Clock: "virtual", Seed: p.Seed, Gears: "fast"},
		File:   filepath.Join(*recordings, fmt.Sprintf("seed-%d.jsonl", p.Seed)),
	})
}

// What a seed does is recorded without contradictions, and each state of the recording is the fold
// of what came before it.
func TestARunIsRecorded(t *testing.T) {
	*recordings = t.TempDir()
	defer func() { *recordings = "" }()
	p := NewPlan(1, 4*time.Minute)
	report := playInBubble(t, p, sabotage{})
	require.Nil(t, report.Failure)
	file, err := os.Open(filepath.Join(*recordings, "seed-1.jsonl"))
	require.NoError(t, err)
	defer file.Close()
	recorded, err := trace.Check(file)
	require.NoError(t, err)
	assert.Empty(t, recorded.Problems)
	assert.Greater(t, recorded.Events, uint64(report.Events), "a watch event makes several")
	for _, gear := range []string{"reflector", "deltafifo", "indexer", "informer", "queue", "nsctl", "restclient"} {
		assert.Positive(t, recorded.State.Events[gear], gear)
	}
	assert.Zero(t, recorded.State.Odd)
	assert.Empty(t, recorded.State.Lost)
}
