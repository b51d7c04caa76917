package workloads_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	. "orrery/internal/lab/bench/workloads"
)

// contract is what a harness must do, one behaviour after the other. Lab 15 runs it on a learner's
// page.
var contract = []struct {
	name string
	test func(t *testing.T)
}{
	{"Produce/EachEventIsAddedWhenItIsDue", eventsAreAddedWhenDue},
	{"Produce/AStallDoesNotStopTheEvents", stallDoesNotStopEvents},
	{"Produce/ALateProducerDoesNotHideTheDelay", lateProducerHidesNothing},
	{"Produce/TheDueTimeIsThereBeforeTheKey", dueBeforeKey},
	{"Consume/TheLatencyEndsWhenTheWorkIsDone", latencyEndsWithTheWork},
	{"Consume/AnEventDuringTheWorkNeedsAnotherPass", eventDuringTheWork},
	{"Consume/AMergedKeyHasTheAgeOfItsOldestEvent", oldestEventCounts},
	{"Consume/EveryKeyIsGivenBack", everyKeyIsGivenBack},
	{"Consume/AQueueOfSlowWorkersIsNotStuck", slowWorkers},
	{"Measure/TheSetupIsNotTimed", setupIsNotTimed},
	{"Measure/TheBacklogIsPartOfTheWork", backlogIsPart},
	{"Measure/TheRateIsThatOfTheCaller", rateOfTheCaller},
	{"Measure/NoGoroutineIsLeft", noGoroutineIsLeft},
	{"Prove/ALostKey", lostKey},
	{"Prove/ALostUpdate", lostUpdate},
	{"Prove/AKeyForTwoWorkers", keyForTwoWorkers},
	{"Prove/AKeyThatWasNeverAdded", inventedKey},
	{"Prove/MergedKeysAreNoMistake", mergedKeys},
	{"End/ACancelledRunDropsItsBacklog", cancelledRun},
	{"End/ACancelledProducerAddsNothingMore", cancelledProducer},
}

func TestContract(t *testing.T) {
	for _, behaviour := range contract {
		t.Run(behaviour.name, func(t *testing.T) {
			synctest.Test(t, behaviour.test)
		})
	}
}

// phase counts the queues of a run: the warm-up, as fast as possible, and at a steady rate.
type phase int

const paced phase = 3

// subject makes textbook queues with changes. Add takes a millisecond in the first two phases, or
// the clock of the bubble would stand still.
type subject struct {
	QueueSubject
	setup  time.Duration // of each queue
	change func(q *changed)

	phase phase
}

// changed is a queue with changes.
type changed struct {
	Queue
	phase phase
	born  time.Time
	add   func(key string)
	get   func() (key string, shutdown bool)
	done  func(key string)

	addAfter func(key string, after time.Duration)
}

func textbook(change func(q *changed)) *subject {
	return &subject{QueueSubject: TextbookQueue(), change: change}
}

func (s *subject) New(options QueueOptions) Queue {
	time.Sleep(s.setup)
	s.phase++
	q := &changed{Queue: s.QueueSubject.New(options), phase: s.phase, born: time.Now()}
	q.add, q.get, q.done, q.addAfter = q.Queue.Add, q.Queue.Get, q.Queue.Done, q.Queue.AddAfter
	if s.change != nil {
		s.change(q)
	}
	return q
}

func (q *changed) Add(key string) {
	if q.phase < paced {
		time.Sleep(time.Millisecond)
	}
	q.add(key)
}

func (q *changed) Get() (key string, shutdown bool)         { return q.get() }
func (q *changed) Done(key string)                          { q.done(key) }
func (q *changed) AddAfter(key string, after time.Duration) { q.addAfter(key, after) }

// measured returns the result of a run of a second, by default with one producer, one worker,
// 10,000 keys, and 100 events a second in the paced phase.
func measured(t *testing.T, s QueueSubject, change func(c *QueueConfig)) (*bench.Result, error) {
	c := QueueConfig{Producers: 1, Workers: 1, Keys: 10_000, Load: bench.Load{
		Distribution: bench.Uniform, Duration: time.Second, Rate: 100, Seed: 1,
	}}
	if change != nil {
		change(&c)
	}
	return RunQueue(t.Context(), s, &c, nil)
}

// run is measured for a queue without mistakes.
func run(t *testing.T, s QueueSubject, change func(c *QueueConfig)) *bench.Result {
	t.Helper()
	result, err := measured(t, s, change)
	require.NoError(t, err, "the queue makes no mistake, and the harness must not find one")
	return result
}

func figure(t *testing.T, r *bench.Result, name string) float64 {
	t.Helper()
	f, ok := r.Figure(name)
	require.True(t, ok, name)
	return f.Value
}

// within asserts that a duration is wanted, but for the width of a histogram's bucket.
func within(t *testing.T, want, got time.Duration, sentence string) {
	t.Helper()
	assert.InDelta(t, want.Seconds()*1000, got.Seconds()*1000, max(2, want.Seconds()*20), sentence+", in ms")
}

func eventsAreAddedWhenDue(t *testing.T) {
	var mu sync.Mutex
	var at []time.Duration
	run(t, textbook(func(q *changed) {
		if q.phase == paced {
			q.add = func(key string) {
				mu.Lock()
				defer mu.Unlock()
				at = append(at, time.Since(q.born))
				q.Queue.Add(key)
			}
		}
	}), func(c *QueueConfig) { c.Producers = 3 })
	require.Len(t, at, 100, "at 100 events a second, three producers add 100 keys in a second together")
	for i, added := range at {
		within(t, time.Duration(i)*10*time.Millisecond, added, fmt.Sprintf("event %d is added when it is due", i))
	}
}

// For half a second no worker gets a key.
func stallDoesNotStopEvents(t *testing.T) {
	var mu sync.Mutex
	during := 0
	const from, to = 200 * time.Millisecond, 700 * time.Millisecond
	result := run(t, textbook(func(q *changed) {
		if q.phase < paced {
			return
		}
		q.add = func(key string) {
			if at := time.Since(q.born); at > from && at < to {
				mu.Lock()
				during++
				mu.Unlock()
			}
			q.Queue.Add(key)
		}
		q.get = func() (string, bool) {
			key, shutdown := q.Queue.Get()
			if at := time.Since(q.born); at > from && at < to {
				time.Sleep(to - at)
			}
			return key, shutdown
		}
	}), nil)
	assert.GreaterOrEqual(t, during, 45,
		"events are added while the queue stands still: a producer never waits for the queue")
	within(t, 490*time.Millisecond, result.Latency.Max(),
		"the first event of a stall of half a second waits for nearly all of it")
	within(t, 390*time.Millisecond, result.Latency.Quantile(0.9),
		"half of all events are due during the stall, and each has its own latency: the 90th percentile is high")
}

// Add blocks for half a second, so the producer is late with the events after it.
func lateProducerHidesNothing(t *testing.T) {
	result := run(t, textbook(func(q *changed) {
		if q.phase < paced {
			return
		}
		var once sync.Once
		q.add = func(key string) {
			if time.Since(q.born) > 200*time.Millisecond {
				once.Do(func() { time.Sleep(500 * time.Millisecond) })
			}
			q.Queue.Add(key)
		}
	}), nil)
	assert.Equal(t, 100, int(result.Latency.Count()), "an event that is late is added at once, and none is left out")
	within(t, 500*time.Millisecond, result.Latency.Max(), "the event whose Add took half a second has that latency")
	within(t, 400*time.Millisecond, result.Latency.Quantile(0.9),
		"a latency begins when the event was due: a late producer does not hide the delay")
}

// A worker has the key before Add returns.
func dueBeforeKey(t *testing.T) {
	result, err := measured(t, textbook(func(q *changed) {
		q.add = func(key string) {
			q.Queue.Add(key)
			time.Sleep(time.Millisecond)
		}
	}), nil)
	require.NoError(t, err,
		"the due time is in the key's state before Add: a worker may get the key before Add returns")
	assert.Equal(t, 100, int(result.Latency.Count()), "each event has a latency")
}

// One key, an event every 10 ms, and a worker that needs 97 ms.
func oldestEventCounts(t *testing.T) {
	result := run(t, textbook(nil), func(c *QueueConfig) { c.Keys, c.HandlerCost = 1, 97*time.Millisecond })
	assert.Greater(t, result.Latency.Quantile(0.5), 180*time.Millisecond,
		"ten events are merged while a worker is busy for 97 ms, and 97 ms later they are done; the latency is "+
			"that of the oldest")
}

func latencyEndsWithTheWork(t *testing.T) {
	result := run(t, textbook(nil), func(c *QueueConfig) { c.HandlerCost = 5 * time.Millisecond })
	assert.Equal(t, 100, int(result.Latency.Count()),
		"each of the 100 events of the phase with a steady rate has a latency, and no other event")
	within(t, 5*time.Millisecond, result.Latency.Quantile(0.5), "the latency of an event includes the work on its key")
}

// The worker has taken the key, and needs 15 ms; the next event comes after 10 ms.
func eventDuringTheWork(t *testing.T) {
	result := run(t, textbook(nil), func(c *QueueConfig) {
		c.Keys, c.HandlerCost, c.Rate, c.Duration = 1, 15*time.Millisecond, 100, 20*time.Millisecond
	})
	assert.Equal(t, 2, int(result.Latency.Count()),
		"an event that comes during the work needs another pass, and has a latency of its own")
	within(t, 20*time.Millisecond, result.Latency.Max(),
		"the second event is due at 10 ms, and the second pass ends at 30 ms")
}

func everyKeyIsGivenBack(t *testing.T) {
	var mu sync.Mutex
	held := map[string]bool{}
	most := 0
	run(t, textbook(func(q *changed) {
		q.get = func() (string, bool) {
			key, shutdown := q.Queue.Get()
			mu.Lock()
			defer mu.Unlock()
			if !shutdown {
				held[key] = true
			}
			most = max(most, len(held))
			return key, shutdown
		}
		q.done = func(key string) {
			mu.Lock()
			defer mu.Unlock()
			assert.True(t, held[key], "Done gets a key that the worker holds")
			delete(held, key)
			q.Queue.Done(key)
		}
	}), func(c *QueueConfig) { c.Workers, c.HandlerCost = 3, time.Millisecond })
	assert.Empty(t, held, "a worker calls Done for every key that it got")
	assert.LessOrEqual(t, most, 3, "a worker holds one key at a time")
}

// A key takes 10 s, and the guard ends a run without progress after a minute.
func slowWorkers(t *testing.T) {
	_, err := measured(t, textbook(nil), func(c *QueueConfig) {
		c.Keys, c.HandlerCost, c.Rate, c.Duration = 5,
			10*time.Second, 1, 90*time.Second
	})
	assert.NoError(t, err,
		"slow workers lose nothing: the guard must hear of each batch, by Moved, or it shuts the queue down")
}

func setupIsNotTimed(t *testing.T) {
	s := textbook(nil)
	s.setup = 10 * time.Second
	result := run(t, s, nil)
	assert.InEpsilon(t, 1000, figure(t, result, "processed"), 0.05,
		"an Add takes 1 ms, so 1000 keys a second are processed; the 10 s in which the queue was made are not "+
			"part of the work")
	assert.Less(t, result.Latency.Max(), time.Second,
		"the events are due from the start of the phase on, and that is after the queue was made")
}

// A key needs twice as long to be handled as to be added.
func backlogIsPart(t *testing.T) {
	result := run(t, textbook(nil), func(c *QueueConfig) { c.HandlerCost = 2 * time.Millisecond })
	assert.InEpsilon(t, 500, figure(t, result, "processed"), 0.05,
		"one worker that needs 2 ms processes 500 keys a second, however fast they are added")
}

func rateOfTheCaller(t *testing.T) {
	for _, rate := range []float64{20, 300} {
		result := run(t, textbook(nil), func(c *QueueConfig) { c.Rate = rate })
		assert.Equal(t, int(rate), int(result.Latency.Count()), "a second at a steady rate has that many events")
		assert.Contains(t, result.Proof[1], fmt.Sprintf("%.0f keys", rate), "and says so")
	}
}

// mistake asserts that a run is refused because of what the queue did.
func mistake(t *testing.T, want string, s QueueSubject, change func(c *QueueConfig)) {
	t.Helper()
	_, err := measured(t, s, change)
	var proof *bench.ProofError
	require.ErrorAs(t, err, &proof,
		"the queue made a mistake, so the run must end with a *bench.ProofError and without figures")
	assert.Contains(t, proof.What, want, "the error says which mistake it was")
}

// nth returns a function that reports whether it is called for the n-th time.
func nth(n int) func() bool {
	var mu sync.Mutex
	calls := 0
	return func() bool {
		mu.Lock()
		defer mu.Unlock()
		calls++
		return calls == n
	}
}

func lostKey(t *testing.T) {
	mistake(t, "not handed out after their last Add", textbook(func(q *changed) {
		lost := nth(50)
		q.add = func(key string) {
			if q.phase < paced || !lost() {
				q.Queue.Add(key)
			}
		}
		// a worker that costs more is asked less often whether it is done
	}), func(c *QueueConfig) { c.Keys, c.HandlerCost = 200, 8*time.Millisecond })
}

// The queue forgets that a key was added while a worker held it. The key itself was handed out.
func lostUpdate(t *testing.T) {
	mistake(t, "not handed out after their last Add", textbook(func(q *changed) {
		var mu sync.Mutex
		held := map[string]bool{}
		q.add = func(key string) {
			mu.Lock()
			lost := held[key]
			mu.Unlock()
			if q.phase < paced || !lost {
				q.Queue.Add(key)
			}
		}
		q.get = func() (string, bool) {
			key, shutdown := q.Queue.Get()
			mu.Lock()
			defer mu.Unlock()
			held[key] = true
			return key, shutdown
		}
		q.done = func(key string) {
			mu.Lock()
			delete(held, key)
			mu.Unlock()
			q.Queue.Done(key)
		}
	}), func(c *QueueConfig) { c.Keys, c.HandlerCost, c.Duration = 1, 25*time.Millisecond, 45*time.Millisecond })
}

func keyForTwoWorkers(t *testing.T) {
	mistake(t, "two workers at once", textbook(func(q *changed) {
		if q.phase < paced {
			return
		}
		repeated := nth(20)
		var mu sync.Mutex
		again, next := "", ""
		q.get = func() (string, bool) {
			mu.Lock()
			key := next
			next = ""
			mu.Unlock()
			if key != "" {
				return key, false
			}
			key, shutdown := q.Queue.Get()
			mu.Lock()
			defer mu.Unlock()
			switch {
			case shutdown:
			case repeated():
				again = key
			case again != "":
				key, next, again = again, key, ""
			}
			return key, shutdown
		}
	}), func(c *QueueConfig) { c.Workers, c.HandlerCost, c.Rate = 2, 50*time.Millisecond, 30 })
}

func inventedKey(t *testing.T) {
	mistake(t, "never added", textbook(func(q *changed) {
		invented := nth(20)
		q.get = func() (string, bool) {
			key, shutdown := q.Queue.Get()
			if q.phase == paced && !shutdown && invented() {
				q.Queue.Add("invented")
			}
			return key, shutdown
		}
	}), nil)
}

func mergedKeys(t *testing.T) {
	result := run(t, textbook(nil), func(c *QueueConfig) {
		c.Keys, c.HandlerCost, c.Producers = 2,
			20*time.Millisecond, 2
	})
	assert.Less(t, figure(t, result, "processed"), figure(t, result, "added")/5,
		"a queue merges keys, so fewer are processed than added")
}
