package queuetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

// testLinearizability lets producers, workers and a ShutDown use a queue concurrently. The results
// must be possible if each call took effect at one instant between its start and its end.
func testLinearizability(t *testing.T, impl Implementation, kind kind) {
	model := impl.model()
	for round := range uint64(100) {
		h := history{lateAddAfter: !impl.has(AddAfterIsAtOnce)}
		synctest.Test(t, func(t *testing.T) {
			q := ended(t, kind.make().(queue.DelayingInterface[string]))
			h.use(q, rand.New(rand.NewPCG(round, round)))
		})
		result, info := porcupine.CheckOperationsVerbose(model, h.operations, time.Minute)
		if result != porcupine.Ok {
			path := t.ArtifactDir() + "/history.html"
			require.NoError(t, porcupine.VisualizePath(model, info, path))
			require.Equal(t, porcupine.Ok, result, "round %d: no order of the calls gives these results; see %s",
				round, path)
		}
	}
}

type verb string

const (
	doAdd      verb = "Add"
	doGet      verb = "Get"
	doDone     verb = "Done"
	doAddAfter verb = "AddAfter"
	doEnd      verb = "(delay ends)" // not a call: the queue's timer does it
	doShutDown verb = "ShutDown"
	doDrained  verb = "(drained)" // the second half of ShutDownWithDrain
)

// input describes a call; the output is an answer.
type input struct {
	verb verb
	key  string
	due  time.Duration // when the delay ends: for doAddAfter and doEnd
}

// model returns the spec in porcupine's form.
func (impl Implementation) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return impl.spec() },
		Step: func(state, in, out any) (bool, any) {
			next := state.(*spec).clone()
			ok := next.step(in.(input), out.(answer))
			return ok, next
		},
		Equal: func(a, b any) bool { return a.(*spec).String() == b.(*spec).String() },
		DescribeOperation: func(in, out any) string {
			i, o := in.(input), out.(answer)
			if i.verb == doGet {
				return fmt.Sprintf("Get() = %q, %v", o.key, o.shutdown)
			}
			return fmt.Sprintf("%s(%s)", i.verb, i.key)
		},
		DescribeState: func(state any) string { return state.(*spec).String() },
	}
}

// step reports whether a call that returned out can take effect now, and applies it.
func (s *spec) step(in input, out answer) bool {
	switch in.verb {
	case doAdd:
		s.add(in.key)
	case doGet:
		if len(s.waiting) == 0 {
			return s.shut && out.shutdown
		}
		return !out.shutdown && s.get() == out.key
	case doDone:
		s.done(in.key)
	case doAddAfter:
		s.addAfter(in.key, in.due)
	case doEnd:
		s.endDelay(in.key, in.due)
	case doShutDown:
		s.shutDown()
	case doDrained:
		return s.drained()
	}
	return true
}

// history records calls. Its clock counts calls and returns, which orders them even while time
// stands still.
type history struct {
	lateAddAfter bool
	born         time.Time
	delays       sync.WaitGroup // goroutines that record delays

	mu         sync.Mutex
	clock      int64                 // guarded by mu
	operations []porcupine.Operation // guarded by mu
}

func (h *history) tick() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	return h.clock
}

// add records an operation that began at call and returns now.
func (h *history) add(client int, call int64, in input, out answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	h.operations = append(h.operations, porcupine.Operation{
		ClientId: client, Input: in, Call: call, Output: out, Return: h.clock,
	})
}

func (h *history) do(client int, in input, f func()) {
	call := h.tick()
	f()
	h.add(client, call, in, answer{})
}

// use runs three producers and three workers on q until it is shut down.
func (h *history) use(q queue.DelayingInterface[string], random *rand.Rand) {
	h.born = time.Now()
	var workers, producers sync.WaitGroup
	for client := range 3 {
		workers.Go(func() { h.work(client, q) })
	}
	for client := 3; client < 6; client++ {
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		producers.Go(func() { h.produce(client, q, own) })
	}
	if random.IntN(2) == 0 {
		producers.Wait() // otherwise the shutdown comes in between
	} else {
		time.Sleep(5 * time.Millisecond)
	}
	call := h.tick()
	if random.IntN(3) == 0 {
		q.ShutDown()
		h.add(6, call, input{verb: doShutDown}, answer{})
	} else {
		q.ShutDownWithDrain()
		h.add(6, call, input{verb: doShutDown}, answer{})
		h.add(7, call, input{verb: doDrained}, answer{})
	}
	producers.Wait()
	workers.Wait()
	h.delays.Wait()
}

func (h *history) produce(client int, q queue.DelayingInterface[string], random *rand.Rand) {
	for range 8 {
		key := string('a' + rune(random.IntN(3)))
		switch die := random.IntN(10); {
		case die < 6:
			h.do(client, input{verb: doAdd, key: key}, func() { q.Add(key) })
		case die < 9:
			h.addAfter(client, q, key, time.Duration(1+random.IntN(4))*time.Millisecond)
		default:
			h.do(client, input{verb: doDone, key: key}, func() { q.Done(key) })
		}
		// Few different times, so that much happens together.
		time.Sleep(time.Duration(random.IntN(3)) * time.Millisecond)
	}
}

// addAfter records AddAfter and the end of the delay, which takes effect within a nanosecond of its
// deadline.
func (h *history) addAfter(client int, q queue.DelayingInterface[string], key string, after time.Duration) {
	due := time.Since(h.born) + after
	call := h.tick()
	q.AddAfter(key, after)
	if h.lateAddAfter {
		h.delays.Go(func() {
			time.Sleep(1 * time.Nanosecond) // by then it has taken effect
			h.add(16+client, call, input{doAddAfter, key, due}, answer{})
		})
	} else {
		h.add(client, call, input{doAddAfter, key, due}, answer{})
	}
	h.delays.Go(func() {
		time.Sleep(after - 1)
		h.do(8+client, input{doEnd, key, due}, func() { time.Sleep(2 * time.Nanosecond) })
	})
}

func (h *history) work(client int, q queue.DelayingInterface[string]) {
	for {
		call := h.tick()
		key, shutdown := q.Get()
		h.add(client, call, input{verb: doGet}, answer{key, shutdown})
		if shutdown {
			return
		}
		time.Sleep(time.Millisecond)
		h.do(client, input{verb: doDone, key: key}, func() { q.Done(key) })
	}
}
