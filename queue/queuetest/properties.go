package queuetest

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"orrery/queue"
)

// testProperties performs random operations on a queue and on a spec, one at a time, and compares
// their visible state after each.
func testProperties(t *testing.T, impl Implementation, kind kind) {
	synctest.Test(t, func(t *testing.T) {
		// rapid asks a *testing.T for its deadline, which is not allowed in a bubble. It accepts
		// any other TB.
		rapid.Check(struct{ rapid.TB }{t}, func(t *rapid.T) {
			m := &machine{impl: impl, q: kind.make().(queue.DelayingInterface[string]), spec: impl.spec(), born: time.Now()}
			defer m.q.ShutDown()
			t.Repeat(map[string]func(*rapid.T){
				"Add": m.add, "Get": m.get, "Done": m.done, "AddAfter": m.addAfter,
				"time passes": m.pass, "ShutDown": m.shutDown,
				"": m.check,
			})
		})
	})
}

type machine struct {
	impl  Implementation
	q     queue.DelayingInterface[string]
	spec  *spec
	born  time.Time
	calls int // of AddAfter
}

var someKey = rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})

func (m *machine) add(t *rapid.T) {
	key := someKey.Draw(t, "key")
	m.q.Add(key)
	m.spec.add(key)
}

func (m *machine) get(t *rapid.T) {
	if len(m.spec.waiting) == 0 && !m.spec.shut {
		t.Skip("Get would block")
	}
	if len(m.spec.waiting) == 0 {
		if key, shutdown := m.q.Get(); !shutdown || key != "" {
			t.Fatalf("Get of an empty queue after ShutDown is (%q, %v)", key, shutdown)
		}
		return
	}
	if m.q.Len() == 0 {
		t.Fatalf("nothing is queued, expected %v", m.spec)
	}
	got, shutdown := m.q.Get()
	if want := m.spec.get(); got != want || shutdown {
		t.Fatalf("Get is (%q, %v), want %q", got, shutdown, want)
	}
}

func (m *machine) done(t *rapid.T) {
	key := someKey.Draw(t, "key")
	if len(m.spec.processing) > 0 && rapid.IntRange(0, 9).Draw(t, "misuse") > 0 {
		key = rapid.SampledFrom(sorted(slices.Collect(maps.Keys(m.spec.processing)))).Draw(t, "held key")
	}
	m.q.Done(key)
	m.spec.done(key)
}

func (m *machine) addAfter(t *rapid.T) {
	key := someKey.Draw(t, "key")
	after := time.Duration(rapid.IntRange(-1, 20).Draw(t, "ms")) * time.Millisecond
	if !m.impl.has(KeepsOrderOfEqualDelays) {
		m.calls++
		after += time.Duration(m.calls) // no two deadlines are equal
	}
	m.q.AddAfter(key, after)
	if after <= 0 {
		m.spec.add(key)
	} else {
		m.spec.addAfter(key, m.now()+after)
	}
}

func (m *machine) pass(t *rapid.T) {
	pass(time.Duration(rapid.IntRange(0, 30).Draw(t, "ms")) * time.Millisecond)
	m.spec.advance(m.now())
}

func (m *machine) shutDown(t *rapid.T) {
	if rapid.IntRange(0, 19).Draw(t, "die") > 0 {
		t.Skip("too many calls")
	}
	m.q.ShutDown()
	m.spec.shutDown()
}

func (m *machine) now() time.Duration { return time.Since(m.born) }

func (m *machine) check(t *rapid.T) {
	waitIdle()
	if got, want := m.q.Len(), len(m.spec.waiting); got != want {
		t.Fatalf("Len is %d, want %d: %v", got, want, m.spec)
	}
	if got := m.q.ShuttingDown(); got != m.spec.shut {
		t.Fatalf("ShuttingDown is %v", got)
	}
	if m.impl.Check == nil {
		return
	}
	if err := m.impl.Check(m.q); err != nil {
		t.Fatalf("an invariant does not hold: %v", err)
	}
}
