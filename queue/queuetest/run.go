package queuetest

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

// Run runs the whole suite against impl.
func Run(t *testing.T, impl Implementation) {
	for c, reason := range impl.Lacks {
		require.Contains(t, capabilities, c, "Lacks names a capability that does not exist")
		require.NotEmpty(t, reason, "what is lacking needs a reason: %s", c)
	}
	for _, kind := range impl.kinds() {
		t.Run(kind.name, func(t *testing.T) { runBase(t, impl, kind) })
	}
	if impl.NewDelaying != nil {
		t.Run("Delays", func(t *testing.T) { runDelays(t, impl) })
	}
	if impl.NewRateLimiting != nil {
		t.Run("Rate limits", func(t *testing.T) { runRateLimits(t, impl) })
	}
	if impl.NewWithMetrics != nil {
		t.Run("Metrics", func(t *testing.T) { runMetrics(t, impl) })
	}
	if impl.Limiters != nil {
		t.Run("Limiters", func(t *testing.T) { runLimiters(t, *impl.Limiters) })
	}
	if impl.NewObservable != nil {
		if t.Failed() {
			return // what follows is partly in real time, where a queue that does not wake its workers never ends
		}
		t.Run("Hooks", func(t *testing.T) { runHooks(t, impl) })
		t.Run("Snapshots", func(t *testing.T) { runSnapshots(t, impl) })
	}
}

// kind is one of an implementation's queues. All of them are base queues.
type kind struct {
	name string
	make func() queue.Interface[string]
	// delays says that the queue is a DelayingInterface.
	delays bool
}

func (impl Implementation) kinds() (kinds []kind) {
	if impl.New != nil {
		kinds = append(kinds, kind{"Base queue", impl.New, false})
	}
	if impl.NewDelaying != nil {
		kinds = append(kinds, kind{"Delaying queue",
			func() queue.Interface[string] { return impl.NewDelaying() }, true})
	}
	if impl.NewRateLimiting != nil {
		kinds = append(kinds, kind{"Rate limiting queue",
			func() queue.Interface[string] { return impl.NewRateLimiting(newCounting()) }, true})
	}
	return kinds
}

// bubble runs a scenario in a bubble of its own. The first one that fails ends its
// part of the suite: a queue that is wrong there may never end a later one, and the
// message would be lost.
func bubble(t *testing.T, name string, scenario func(t *testing.T)) {
	if !t.Run(name, func(t *testing.T) { synctest.Test(t, scenario) }) {
		t.FailNow()
	}
}

// ended shuts a queue down when the scenario is over, so that a failed one
// reports its failure and not the goroutines that it left behind. The scenario must be in a bubble, which ends
// after all its goroutines. The cleanup itself does not wait: a queue that panicked may have left its lock locked.
func ended[Q interface{ ShutDown() }](t *testing.T, q Q) Q {
	t.Cleanup(func() { go q.ShutDown() })
	return q
}

// settle waits until everything that can happen without more time has happened.
func settle() { synctest.Wait() }

// pass lets time pass, and everything happen that happens until then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// answer is what Get returned.
type answer struct {
	key      string
	shutdown bool
}

// take gets the next key, which must be there.
func take(t *testing.T, q queue.Interface[string]) string {
	t.Helper()
	got := takeAsync(q)
	settle()
	select {
	case a := <-got:
		require.False(t, a.shutdown, "Get says shutdown instead of handing out a key")
		return a.key
	default:
		require.FailNow(t, "Get blocks, nothing is queued")
		return ""
	}
}

// takeAsync gets the next key in a goroutine of its own.
func takeAsync(q queue.Interface[string]) <-chan answer {
	got := make(chan answer, 1)
	go func() {
		key, shutdown := q.Get()
		got <- answer{key, shutdown}
	}()
	return got
}

// takeAll gets and gives back all keys that are queued now.
func takeAll(t *testing.T, q queue.Interface[string]) (keys []string) {
	t.Helper()
	settle()
	for q.Len() > 0 {
		require.Less(t, len(keys), 100_000, "keys come back after Done although they were not added again")
		key := take(t, q)
		keys = append(keys, key)
		q.Done(key)
	}
	return keys
}

// assertEmpty asserts that there is nothing to get.
func assertEmpty(t *testing.T, q queue.Interface[string], why string) {
	t.Helper()
	settle()
	assert.Zero(t, q.Len(), why)
}

// background runs f in a goroutine; the result tells whether it has returned.
func background(f func()) (returned func() bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return func() bool {
		settle()
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
}

// sorted returns keys in alphabetical order, for comparisons that ignore order.
func sorted(keys []string) []string {
	return slices.Sorted(slices.Values(keys))
}
