package trace_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/gears"
	"orrery/internal/observe/trace"
	"orrery/queue"
)

// sets are the sets of gears that every test of hooks and fold runs with.
func sets(t *testing.T) map[string]gears.Set {
	all := map[string]gears.Set{}
	for _, text := range []string{"fast", "textbook", "fast,deltafifo=inorder"} {
		set, err := gears.Parse(text)
		require.NoError(t, err)
		all[text] = set
	}
	return all
}

// record starts a recorder that writes a file, and returns it with a function that stops it and
// checks the file.
func start(t *testing.T, config trace.Config) (r *trace.Recorder, check func() *trace.Report) {
	t.Helper()
	if config.File == "" {
		config.File = filepath.Join(t.TempDir(), "run.jsonl")
	}
	r, err := trace.Start(config)
	require.NoError(t, err)
	return r, func() *trace.Report {
		t.Helper()
		r.Stop("done")
		require.NoError(t, r.Err())
		return checkFile(t, config.File)
	}
}

func checkFile(t *testing.T, name string) *trace.Report {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	report, err := trace.Check(file)
	require.NoError(t, err)
	return report
}

// The queue's state in the fold is that of the queue, at every rest, whatever it went through.
func TestQueueIsItsFold(t *testing.T) {
	for name, set := range sets(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, check := start(t, trace.Config{})
				q := set.NewQueue(queue.NewItemExponentialFailureRateLimiter[string](time.Second, time.Minute), queue.Config[string]{Trace: r.Queue("keys")})
				same := func() {
					t.Helper()
					synctest.Wait()
					state, snapshot := r.State(), q.Snapshot()
					folded := state.Queues["keys"]
					assert.Zero(t, state.Odd)
					assert.ElementsMatch(t, snapshot.Queued, folded.Queue)
					assert.Equal(t, snapshot.Queued, append([]string(nil), folded.Queue...))
					assert.Len(t, folded.Processing, len(snapshot.Processing))
					for _, p := range snapshot.Processing {
						assert.Equal(t, p.Dirty, folded.Processing[p.Key].Dirty, p.Key)
					}
					assert.Len(t, folded.Delayed, len(snapshot.Delayed))
					assert.EqualValues(t, len(snapshot.Delayed), folded.DelayedTotal)
					assert.Equal(t, snapshot.ShuttingDown, folded.ShuttingDown)
				}
				for _, key := range []string{"a", "b", "a", "c"} {
					q.Add(key)
				}
				same()
				first, _ := q.Get()
				q.Get()
				q.Add(first)
				q.AddAfter("d", time.Hour)
				q.AddAfter("d", time.Minute)
				q.AddAfter("e", time.Hour)
				same()
				assert.Equal(t, []string{"a", "b"}, r.State().Queues["keys"].Slots)
				q.Done(first)
				q.Done("nobody")
				q.AddRateLimited("f")
				q.AddRateLimited("f")
				q.Add("e")
				same()
				assert.EqualValues(t, 2, r.State().Queues["keys"].Failures["f"])
				time.Sleep(2 * time.Minute)
				q.Forget("f")
				same()
				q.AddAfter("g", time.Hour)
				q.ShutDown()
				q.Add("h")
				same()
				report := check()
				assert.Empty(t, report.Problems)
				assert.Zero(t, report.State.Odd)
				assert.Equal(t, "done", report.State.Ended)
			})
		})
	}
}

// The queue calls its hooks after its lock is free, so concurrent ones change places. The recording
// has them in the queue's order, and the fold is the queue's state.
func TestQueueInOrder(t *testing.T) {
	for name, set := range sets(t) {
		t.Run(name, func(t *testing.T) {
			r, check := start(t, trace.Config{})
			q := set.NewQueue(nil, queue.Config[string]{Trace: r.Queue("keys")})
			var workers sync.WaitGroup
			for range 4 {
				workers.Go(func() {
					for key, down := q.Get(); !down; key, down = q.Get() {
						q.Done(key)
					}
				})
			}
			var producers sync.WaitGroup
			for range 4 {
				producers.Go(func() {
					for n := range 2000 {
						q.Add(string(rune('a' + n%7)))
					}
				})
			}
			producers.Wait()
			q.ShutDownWithDrain()
			workers.Wait()
			report := check()
			assert.Empty(t, report.Problems)
			if report.State.Lost["queue"] > 0 {
				return // on a busy machine a hook may come too late; that is told, and all that is promised
			}
			assert.Zero(t, report.State.Odd)
			assert.Empty(t, report.State.Queues["keys"].Processing)
			assert.Empty(t, report.State.Queues["keys"].Queue)
		})
	}
}
