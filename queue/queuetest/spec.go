package queuetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"orrery/queue"
)

// spec is a sequential specification of a queue: lists and sets without lock, goroutine or timer.
// It takes the liberties of an implementation that lacks a Capability.
type spec struct {
	ignoresUnknownDone bool
	drainsQueued       bool
	addCancelsDelay    bool

	waiting    []string        // the order in which Get hands out
	dirty      map[string]bool // needs processing
	processing map[string]bool // with a worker
	delays     []delay         // earliest deadline first
	shut       bool
}

type delay struct {
	key string
	due time.Duration
}

func (impl Implementation) spec() *spec {
	return &spec{
		ignoresUnknownDone: impl.has(IgnoresUnknownDone),
		drainsQueued:       impl.has(DrainsQueued),
		addCancelsDelay:    impl.has(AddCancelsDelay),
		dirty:              map[string]bool{},
		processing:         map[string]bool{},
	}
}

func (s *spec) add(key string) {
	if s.shut {
		return
	}
	if s.addCancelsDelay {
		s.cancel(key)
	}
	if s.dirty[key] {
		return
	}
	s.dirty[key] = true
	if !s.processing[key] {
		s.waiting = append(s.waiting, key)
	}
}

func (s *spec) get() (key string) {
	key, s.waiting = s.waiting[0], s.waiting[1:]
	delete(s.dirty, key)
	s.processing[key] = true
	return key
}

func (s *spec) done(key string) {
	if !s.processing[key] && s.ignoresUnknownDone {
		return
	}
	delete(s.processing, key)
	if s.dirty[key] {
		s.waiting = append(s.waiting, key)
	}
}

func (s *spec) addAfter(key string, due time.Duration) {
	if s.shut {
		return
	}
	if i := s.delayOf(key); i >= 0 {
		if s.delays[i].due <= due {
			return
		}
		s.cancel(key)
	}
	s.delays = append(s.delays, delay{key, due})
	slices.SortStableFunc(s.delays, func(a, b delay) int { return cmp.Compare(a.due, b.due) })
}

func (s *spec) delayOf(key string) int {
	return slices.IndexFunc(s.delays, func(d delay) bool { return d.key == key })
}

func (s *spec) cancel(key string) bool {
	i := s.delayOf(key)
	if i >= 0 {
		s.delays = slices.Delete(s.delays, i, i+1)
	}
	return i >= 0
}

// endDelay ends the delay of key that is due at this time. It does nothing if that delay was
// canceled or replaced.
func (s *spec) endDelay(key string, due time.Duration) {
	if i := s.delayOf(key); i >= 0 && s.delays[i].due == due {
		s.cancel(key)
		s.add(key)
	}
}

// advance sets the time to now.
func (s *spec) advance(now time.Duration) {
	for len(s.delays) > 0 && s.delays[0].due <= now {
		s.endDelay(s.delays[0].key, s.delays[0].due)
	}
}

func (s *spec) shutDown() {
	s.shut = true
	s.delays = nil
}

// drained reports whether ShutDownWithDrain may return.
func (s *spec) drained() bool {
	return s.shut && len(s.processing) == 0 && (len(s.waiting) == 0 || !s.drainsQueued)
}

func (s *spec) clone() *spec {
	c := *s
	c.waiting = slices.Clone(s.waiting)
	c.dirty = maps.Clone(s.dirty)
	c.processing = maps.Clone(s.processing)
	c.delays = slices.Clone(s.delays)
	return &c
}

func (s *spec) String() string {
	return fmt.Sprint("waiting ", s.waiting, " dirty ", sorted(slices.Collect(maps.Keys(s.dirty))),
		" processing ", sorted(slices.Collect(maps.Keys(s.processing))), " delays ", s.delays, " shut ", s.shut)
}

// testProperties performs random operations on a queue and on a spec, one at a time, and compares
// their visible state after each.
func testProperties(t *testing.T, impl Implementation, kind kind) {
	synctest.Test(t, func(t *testing.T) {
		// rapid asks a *testing.T for its deadline, which is not allowed in a bubble. It accepts
		// any other TB.
		rapid.Check(struct{ rapid.TB }{t}, func(t *rapid.T) {
			m := &machine{impl: impl, q: kind.make().(queue.DelayingInterface[string]), spec: impl.spec(),
				born: time.Now()}
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
