package indexer

import "math/bits"

// search goes through the entries of a table that may have a certain hash. Any
// goroutine may search while the writer writes.
type search[E any] struct {
	groups []group[E]
	at     int    // the group
	tags   uint64 // of the group, when the search came to it
	hits   uint64 // the slots that have the tag and were not looked at yet
	tag    uint64 // in each byte
}

func (t *table[E]) search(hash uint64) search[E] {
	s := search[E]{groups: *t.groups.Load(), tag: tagOf(hash) * inEach}
	s.look(firstGroup(hash, len(s.groups)))
	return s
}

// firstGroup of n is where an entry is if there was room. It is the upper bits
// of the hash that decide, the lower ones are the tag.
func firstGroup(hash uint64, n int) int {
	at, _ := bits.Mul64(hash, uint64(n))
	return int(at)
}

// look begins with another group.
func (s *search[E]) look(at int) {
	s.at, s.tags = at, s.groups[at].tags.Load()
	s.hits = zeros(s.tags ^ s.tag)
}

// next returns the next entry, or nil if there are no more. Its hash may be
// another one all the same.
func (s *search[E]) next() *E {
	for {
		for s.hits != 0 {
			slot := slotOf(s.hits)
			s.hits &= s.hits - 1
			if e := s.groups[s.at].entries[slot].Load(); e != nil {
				return e
			}
		}
		if isOpen(s.tags) {
			return nil
		}
		s.look((s.at + 1) % len(s.groups))
	}
}
