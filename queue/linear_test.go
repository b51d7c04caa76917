package queue_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"orrery/queue"
	"orrery/queue/queuetest"
)

// The suite in queuetest checks each small history of a queue as a whole, in virtual time,
// including the order of keys. Here the queue is under load: a dozen goroutines at full speed, real
// time, batches, back-offs. Apart from the order, keys are independent, so the histories are
// checked key by key, which lets them be long.

// batcher is a queue that also has batches.
type batcher interface {
	AddAll(keys []string)
	GetBatch(keys []string) (n int, shutdown bool)
	DoneAll(keys []string)
}

type call struct {
	verb string
	key  string // empty: the call concerns every key
}

// life is the specification of one key in a work queue.
type life struct {
	dirty, processing bool
	delayed           bool // AddAfter or AddRateLimited was called, and its delay has not ended
	shut              bool
}

func (l life) waits() bool { return l.dirty && !l.processing }

// step returns the state after a call, and whether the call may return so.
func (l life) step(verb string) (next life, ok bool) {
	switch verb {
	case "Add":
		if !l.shut {
			l.dirty, l.delayed = true, false
		}
	case "AddAfter":
		l.delayed = l.delayed || !l.shut
	case "(delay ends)": // of an AddAfter, unless Add or ShutDown canceled it
		if l.delayed {
			l.dirty, l.delayed = true, false
		}
	case "Get":
		ok = l.waits()
		l.dirty, l.processing = false, true
		return l, ok
	case "Get reports the shutdown":
		return l, l.shut && !l.waits()
	case "Done":
		l.processing = false
	case "ShutDown":
		l.shut, l.delayed = true, false
	case "(drained)":
		return l, l.shut && !l.dirty && !l.processing
	}
	return l, true
}

// specification returns life as a porcupine model.
func specification() porcupine.Model {
	return porcupine.Model{
		Partition: byKey,
		Init:      func() any { return life{} },
		Step: func(state, in, out any) (bool, any) {
			next, ok := state.(life).step(in.(call).verb)
			return ok, next
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprint(in, " = ", out) },
	}
}

func byKey(history []porcupine.Operation) (parts [][]porcupine.Operation) {
	index := map[string]int{}
	for _, op := range history {
		if key := op.Input.(call).key; key != "" {
			if _, known := index[key]; !known {
				index[key] = len(parts)
				parts = append(parts, nil)
			}
		}
	}
	for _, op := range history {
		for key, i := range index {
			if own := op.Input.(call).key; own == key || own == "" {
				parts[i] = append(parts[i], op)
			}
		}
	}
	return parts
}

// storm lets many clients use a queue at once and records the history.
type storm struct {
	q     queue.RateLimitingInterface[string]
	keys  int
	calls int // of each producer
	clock atomic.Int64

	mu      sync.Mutex
	history []porcupine.Operation // guarded by mu
}

func (s *storm) note(client int, began int64, verb, key string, yes bool) {
	ended := s.clock.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = append(s.history, porcupine.Operation{ClientId: client, Input: call{verb, key}, Call: began,
		Output: yes, Return: ended})
}

const stormClients = 6

func (s *storm) run(seed uint64) {
	var producers, workers sync.WaitGroup
	for client := range stormClients {
		random := rand.New(rand.NewPCG(seed, uint64(client)))
		producers.Go(func() { s.produce(client, random) })
		batches, _ := s.q.(batcher)
		if client%2 == 0 {
			batches = nil
		}
		workers.Go(func() { s.work(stormClients+client, batches) })
	}
	random := rand.New(rand.NewPCG(seed, 99))
	if random.IntN(3) == 0 {
		producers.Wait() // otherwise the shutdown comes in between
	}
	for range random.IntN(200) {
		runtime.Gosched()
	}
	began := s.clock.Add(1)
	if random.IntN(2) == 0 {
		s.q.ShutDown()
		s.note(20, began, "ShutDown", "", true)
	} else {
		s.q.ShutDownWithDrain()
		s.note(20, began, "ShutDown", "", true)
		s.note(21, began, "(drained)", "", true)
	}
	producers.Wait()
	workers.Wait()
	s.endDelays()
}

// endDelays completes the history: the delay of each AddAfter ends at some time after it.
func (s *storm) endDelays() {
	end := s.clock.Add(1)
	for i, op := range s.history {
		if in := op.Input.(call); in.verb == "AddAfter" {
			s.history = append(s.history, porcupine.Operation{
				ClientId: 100 + i, Input: call{"(delay ends)", in.key}, Call: op.Call, Output: true, Return: end,
			})
		}
	}
}

func (s *storm) produce(client int, random *rand.Rand) {
	for range s.calls {
		key := s.key(random)
		began := s.clock.Add(1)
		switch die := random.IntN(100); {
		case die < 70:
			s.q.Add(key)
			s.note(client, began, "Add", key, true)
		case die < 80:
			keys := []string{key, s.key(random), s.key(random)}
			if q, ok := s.q.(batcher); ok {
				q.AddAll(keys)
			} else {
				for _, key := range keys {
					s.q.Add(key)
				}
			}
			for i, key := range keys {
				s.note(client+1000*i, began, "Add", key, true)
			}
		case die < 90:
			if random.IntN(2) == 0 {
				s.q.AddRateLimited(key)
			} else {
				s.q.AddAfter(key, time.Duration(1+random.IntN(200))*time.Microsecond)
			}
			s.note(client, began, "AddAfter", key, true)
		default:
			s.q.AddAfter(key, 0)
			s.note(client, began, "Add", key, true)
		}
		if random.IntN(4) == 0 {
			runtime.Gosched()
		}
	}
}

func (s *storm) key(random *rand.Rand) string { return string('a' + rune(random.IntN(s.keys))) }

func (s *storm) work(client int, batches batcher) {
	var keys [4]string
	for {
		began := s.clock.Add(1)
		n, shutdown := 1, false
		if batches != nil {
			n, shutdown = batches.GetBatch(keys[:])
		} else {
			keys[0], shutdown = s.q.Get()
		}
		if shutdown {
			s.note(client, began, "Get reports the shutdown", "", true)
			return
		}
		for i := range n {
			s.note(client+1000*i, began, "Get", keys[i], true)
		}
		runtime.Gosched()
		began = s.clock.Add(1)
		if batches != nil {
			batches.DoneAll(keys[:n])
		} else {
			s.q.Done(keys[0])
		}
		for i := range n {
			s.note(client+1000*i, began, "Done", keys[i], true)
		}
	}
}

// runs runs the storm and reports whether it ended within a minute. If it did not, its history
// proves nothing.
func (s *storm) runs(seed uint64) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.run(seed)
	}()
	select {
	case <-ended:
		return true
	case <-time.After(time.Minute):
		return false
	}
}

// soon is a rate limiter with short delays.
type soon struct{}

func (soon) When(string) time.Duration { return 50 * time.Microsecond }
func (soon) Forget(string)             {}
func (soon) NumRequeues(string) int    { return 0 }

func search(history []porcupine.Operation) (porcupine.CheckResult, porcupine.LinearizationInfo) {
	return porcupine.CheckOperationsVerbose(specification(), history, time.Minute)
}

func TestLinearizableUnderLoad(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		for name, config := range map[string]queue.Config[string]{
			"plain": {}, "with metrics": {Name: "q", Metrics: queuetest.NoMetrics},
			"with a trace": {Trace: &queue.Trace[string]{Added: func(queue.Event[string]) {}}},
		} {
			t.Run(name, func(t *testing.T) {
				for seed := range uint64(40) {
					s := &storm{q: newForm(soon{}, config), keys: 5, calls: 60}
					require.True(t, s.runs(seed), "the storm does not end: a worker or a drain was not woken")
					require.NoError(t, check[string](s.q))
					result, info := search(s.history)
					if result != porcupine.Ok {
						path := t.ArtifactDir() + "/history.html"
						require.NoError(t, porcupine.VisualizePath(specification(), info, path))
						require.Equal(t, porcupine.Ok, result, "history %d of %d calls, see %s", seed,
							len(s.history), path)
					}
				}
			})
		}
	})
}
