package queuetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
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
