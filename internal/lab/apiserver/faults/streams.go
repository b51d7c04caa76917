package faults

// Holds tells whether a watch is to say nothing at the moment, and to catch up later.
func (s *Set) Holds(r Request) bool {
	held := false
	s.each(func(f *fault) { held = held || f.kind == holdEvents && f.scope.matches(r) })
	return held
}

// Withholds tells whether a bookmark is not to be sent. initial is the one that ends the initial events.
func (s *Set) Withholds(r Request, initial bool) bool {
	withheld := false
	s.each(func(f *fault) {
		if f.kind != withholdBookmarks || !f.scope.matches(r) || f.which == "regular" && initial || f.which == "initial" && !initial {
			return
		}
		f.hits++
		withheld = true
	})
	return withheld
}

// Interrupts returns after how many initial events the streaming list that begins is to break; negative: not at all.
func (s *Set) Interrupts(r Request) int {
	after := -1
	s.each(func(f *fault) {
		if after < 0 && f.kind == interruptStreams && f.strikesLocked(r) {
			after = f.events
		}
	})
	return after
}

// Repeats is asked after an event was sent to a watch. It returns how many of the last events are to be sent again, and of which
// older one, counted from the last, is to be sent once more by itself; 0 is none.
func (s *Set) Repeats(r Request) (back, stale int) {
	s.each(func(f *fault) {
		switch {
		case f.kind == repeatEvents && f.strikesLocked(r):
			back = max(back, f.events)
		case f.kind == staleEvents && f.strikesLocked(r):
			stale = max(stale, f.events)
		}
	})
	return back, stale
}

// ExpiresContinue tells whether the token that a list goes on with counts as too old.
func (s *Set) ExpiresContinue(r Request) bool { return s.strike(expireContinue, r) }

// TroublesEvents tells whether there is any fault for which a watch has to keep what it has sent.
func (s *Set) TroublesEvents() bool {
	troubled := false
	s.each(func(f *fault) { troubled = troubled || f.kind == repeatEvents || f.kind == staleEvents })
	return troubled
}
