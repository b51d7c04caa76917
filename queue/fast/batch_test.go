package fast_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/queue"
	"orrery/queue/fast"
)

// TestBatchesAreManyCalls performs the same operations on two queues, with batches and key by key,
// and expects equal results.
func TestBatchesAreManyCalls(t *testing.T) {
	for name, config := range map[string]func(events *[]string) queue.Config[string]{
		"plain":  func(*[]string) queue.Config[string] { return queue.Config[string]{} },
		"traced": func(events *[]string) queue.Config[string] { return queue.Config[string]{Trace: noteEvents(events)} },
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var batchEvents, singleEvents []string
				batches, singles := fast.New(config(&batchEvents)), fast.New(config(&singleEvents))
				keys := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 400), func(i int) string { return fmt.Sprint(i) }), 0, 300)
				var held []string
				t.Repeat(map[string]func(*rapid.T){
					"add": func(t *rapid.T) {
						added := keys.Draw(t, "keys")
						batches.AddAll(added)
						for _, key := range added {
							singles.Add(key)
						}
					},
					"get": func(t *rapid.T) {
						if batches.Len() == 0 {
							t.Skip()
						}
						got := make([]string, rapid.SampledFrom([]int{1, 16, 300}).Draw(t, "room"))
						n, shutdown := batches.GetBatch(got)
						require.False(t, shutdown)
						require.Positive(t, n)
						for _, key := range got[:n] {
							require.Positive(t, singles.Len())
							want, _ := singles.Get()
							require.Equal(t, want, key)
						}
						held = append(held, got[:n]...)
					},
					"done": func(t *rapid.T) {
						n := rapid.IntRange(0, len(held)).Draw(t, "n")
						given := append(held[:n:n], "unknown")
						batches.DoneAll(given)
						for _, key := range given {
							singles.Done(key)
						}
						held = held[n:]
					},
					"": func(t *rapid.T) {
						require.NoError(t, batches.Check())
						a, b := batches.Snapshot(), singles.Snapshot()
						require.ElementsMatch(t, b.Queued, a.Queued)
						require.Equal(t, b.Seq, a.Seq)
						require.ElementsMatch(t, b.Processing, a.Processing)
						require.Equal(t, singleEvents, batchEvents)
					},
				})
			})
		})
	}
}

func noteEvents(events *[]string) *queue.Trace[string] {
	note := func(what string) func(queue.Event[string]) {
		return func(e queue.Event[string]) { *events = append(*events, fmt.Sprint(what, e)) }
	}
	return &queue.Trace[string]{Added: note("added"), Coalesced: note("coalesced"), DoneUnknown: note("unknown")}
}

// After the end there is no key, with and without a trace.
func TestGetBatchAfterShutDown(t *testing.T) {
	for name, trace := range map[string]*queue.Trace[string]{"without a trace": nil, "with a trace": {}} {
		q := fast.New(queue.Config[string]{Trace: trace})
		q.ShutDown()
		n, shutdown := q.GetBatch(make([]string, 2))
		assert.Zero(t, n, name)
		assert.True(t, shutdown, name)
	}
}

func TestGetBatchTakesWhatWaits(t *testing.T) {
	q := fast.New(queue.Config[string]{})
	q.AddAll([]string{"a", "b", "c"})
	keys := make([]string, 2)
	n, _ := q.GetBatch(keys)
	assert.Equal(t, []string{"a", "b"}, keys[:n])
	n, _ = q.GetBatch(keys)
	assert.Equal(t, []string{"c"}, keys[:n])
}

func TestGetBatchWaits(t *testing.T) {
	for _, trace := range []*queue.Trace[string]{nil, {}} {
		synctest.Test(t, func(t *testing.T) {
			q := fast.New(queue.Config[string]{Trace: trace})
			var got []string
			go func() {
				keys := make([]string, 3)
				for {
					n, shutdown := q.GetBatch(keys)
					if shutdown {
						return
					}
					got = append(got, keys[:n]...)
					q.DoneAll(keys[:n])
				}
			}()
			synctest.Wait()
			assert.Empty(t, got)
			q.AddAll([]string{"a", "b", "c", "d"})
			synctest.Wait()
			assert.Equal(t, []string{"a", "b", "c", "d"}, got)
			q.AddAll(nil)
			q.Add("e")
			q.ShutDownWithDrain()
			synctest.Wait()
			assert.Equal(t, []string{"a", "b", "c", "d", "e"}, got)
			q.AddAll([]string{"too late"})
			assert.Zero(t, q.Len())
		})
	}
}
