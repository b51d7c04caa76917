package chaos

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/trace/tracetest"
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
	events, last, err := tracetest.Read(file)
	require.NoError(t, err)
	assert.Greater(t, len(events), int(report.Events), "a watch event makes several")
	for _, gear := range []string{"reflector", "deltafifo", "indexer", "informer", "queue", "nsctl", "restclient"} {
		assert.Contains(t, last.Gears, gear)
	}
	assert.Zero(t, last.Odd)
	assert.Empty(t, last.Lost)
}

// recorder is a handler that records its history and takes as long as planned.
type recorder[T object] struct {
	history *History
	plan    HandlerPlan
	quiet   *atomic.Bool // at quiet points handlers are not slow: slowness is a fault
	handled atomic.Int64
}

// OnAdd records an addition.
func (r *recorder[T]) OnAdd(o T, initial bool) {
	r.work()
	r.history.Added(keyOf(o), StateOf(o), initial)
}

// OnUpdate records an update or a resync.
func (r *recorder[T]) OnUpdate(was, is T) {
	r.work()
	r.history.Updated(keyOf(is), StateOf(was), StateOf(is))
}

// OnDelete records a deletion.
func (r *recorder[T]) OnDelete(d informer.DeletedObject[T]) {
	r.work()
	r.history.Deleted(d.Key, StateOf(d.Object), d.FinalStateUnknown)
}

// work sleeps as long as the plan says.
func (r *recorder[T]) work() {
	number := r.handled.Add(1)
	switch {
	case r.quiet.Load():
	case r.plan.StuckEvery > 0 && number%int64(r.plan.StuckEvery) == 0:
		time.Sleep(r.plan.StuckFor)
	case r.plan.Work > 0:
		time.Sleep(r.plan.Work)
	}
}

func keyOf(o informer.Object) string {
	key, _ := informer.MetaNamespaceKeyFunc(o) // every object of a server has a name
	return key
}
