package scenes

import (
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/demo/story"
	"orrery/queue"
)

// keySets shows the three sets of a work queue and tells its events, both from its hooks.
type keySets struct {
	teller *story.Teller

	// Guarded by the teller's lock.
	dirty, queued, processing []string
	coalesced                 int
	passes                    map[string]int
	next                      uint64            // the number of the next event
	early                     map[uint64]func() // events that came before their turn
}

func newKeySets(teller *story.Teller) *keySets {
	return &keySets{teller: teller, next: 1, passes: map[string]int{}, early: map[uint64]func(){}}
}

// trace returns the hooks of a queue without delays.
func (k *keySets) trace() *queue.Trace[string] {
	return &queue.Trace[string]{
		Added:     func(e queue.Event[string]) { k.happened(e, k.added) },
		Coalesced: func(e queue.Event[string]) { k.happened(e, k.found) },
		Got:       func(e queue.Event[string], _ time.Duration) { k.happened(e, k.got) },
		Done:      func(e queue.Event[string], _ time.Duration) { k.happened(e, k.done) },
	}
}

// happened applies the events in their order: callbacks of different goroutines may come out of
// order.
func (k *keySets) happened(e queue.Event[string], apply func(s *story.State, key string)) {
	k.teller.Update(func(s *story.State) {
		k.early[e.Seq] = func() { apply(s, e.Key) }
		for ; k.early[k.next] != nil; k.next++ {
			k.early[k.next]()
			delete(k.early, k.next)
		}
		s.Show("dirty", "%s", strings.Join(k.dirty, "  "))
		s.Show("queue", "%s", strings.Join(k.queued, "  "))
		s.Show("processing", "%s", strings.Join(k.processing, "  "))
		s.Show("coalesced", "%d", k.coalesced)
	})
}

func (k *keySets) added(s *story.State, key string) {
	k.dirty = append(k.dirty, key)
	if slices.Contains(k.processing, key) {
		s.Tell(story.Queue, "Add(%s): it is dirty now; a worker holds it, so it is not queued", key)
		return
	}
	k.queued = append(k.queued, key)
	s.Tell(story.Queue, "Add(%s): it is dirty now, and queued", key)
}

func (k *keySets) found(s *story.State, key string) {
	k.coalesced++
	if k.coalesced == 1 {
		s.Tell(story.Queue, "Add(%s): it is dirty already, so nothing changes (coalesced)", key)
	}
}

func (k *keySets) got(s *story.State, key string) {
	k.passes[key]++
	k.dirty, k.queued = without(k.dirty, key), without(k.queued, key)
	k.processing = append(k.processing, key)
	s.Tell(story.Queue, "Get returns %s: it is processing now, and no longer dirty", key)
}

func (k *keySets) done(s *story.State, key string) {
	k.processing = without(k.processing, key)
	if slices.Contains(k.dirty, key) {
		k.queued = append(k.queued, key)
		s.Tell(story.Queue, "Done(%s): it is dirty, so it is queued", key)
		return
	}
	s.Tell(story.Queue, "Done(%s): it is not dirty, so the queue forgets it", key)
}

func without(keys []string, key string) []string {
	return slices.DeleteFunc(keys, func(other string) bool { return other == key })
}
