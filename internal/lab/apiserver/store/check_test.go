package store

import (
	"fmt"
	"strings"
)

// check verifies the invariants of a store and of each collection.
func (s *Store) check() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.floor > s.version {
		return fmt.Errorf("the floor %d is above the version %d", s.floor, s.version)
	}
	for _, c := range s.collections {
		if err := c.checkLocked(); err != nil {
			return fmt.Errorf("%s: %w", c.prefix, err)
		}
	}
	return nil
}

func (c *Collection) checkLocked() error {
	if c.window.oldest < c.store.floor {
		return fmt.Errorf("history begins at %d, below the floor %d", c.window.oldest, c.store.floor)
	}
	if err := c.objects.check(c.store.version); err != nil {
		return err
	}
	bytes := 0
	c.objects.objects.Scan(func(o *Object) bool { bytes += o.size(); return true })
	if bytes != c.bytes {
		return fmt.Errorf("objects take %d bytes, not %d", bytes, c.bytes)
	}
	if err := c.window.check(c.store.version); err != nil {
		return err
	}
	if err := c.checkHistoryLocked(); err != nil {
		return err
	}
	return nil
}

// checkHistoryLocked undoes the window and replays it: each event must start from the state that
// its predecessor left.
func (c *Collection) checkHistoryLocked() error {
	at := map[Key]*Object{}
	c.objects.objects.Scan(func(o *Object) bool { at[o.Key] = o; return true })
	parts := c.window.all(c.window.first)
	for i := len(parts) - 1; i >= 0; i-- {
		for k := len(parts[i]) - 1; k >= 0; k-- {
			e := parts[i][k]
			after := e.Object
			if e.Type == "DELETED" {
				after = nil
			}
			if at[e.Object.Key] != after {
				return fmt.Errorf("%s %s at %d is not what the next event found", e.Type, e.Object.Key, e.Version())
			}
			if (e.Type == "ADDED") != (e.Previous == nil) {
				return fmt.Errorf("%s %s at %d: previous is %v", e.Type, e.Object.Key, e.Version(), e.Previous)
			}
			at[e.Object.Key] = e.Previous
		}
	}
	return nil
}

func (t tree) check(version uint64) error {
	var last *Object
	var err error
	count := 0
	t.objects.Scan(func(o *Object) bool {
		count++
		switch {
		case last != nil && last.Key.compare(o.Key) >= 0:
			err = fmt.Errorf("%s precedes %s", last.Key, o.Key)
		case o.Version > version || o.Version == 0:
			err = fmt.Errorf("%s has version %d, the store is at %d", o.Key, o.Version, version)
		case !strings.HasPrefix(string(o.body), fmt.Sprintf(`{"metadata":{"resourceVersion":"%d"`, o.Version)):
			err = fmt.Errorf("%s at %d has the body %s", o.Key, o.Version, o.body)
		}
		last = o
		return err == nil
	})
	if err == nil && count != t.len() {
		err = fmt.Errorf("%d objects, counted as %d", count, t.len())
	}
	return err
}

func (w *window) check(version uint64) error {
	bytes, number, last := 0, w.first, w.oldest
	for i, c := range w.chunks {
		if len(c.events) == 0 || len(c.events) > chunkEvents {
			return fmt.Errorf("chunk %d has %d events", i, len(c.events))
		}
		if i > 0 && c.first != number {
			return fmt.Errorf("chunk %d begins with event %d, not %d", i, c.first, number)
		}
		if c.first > number || number >= c.first+uint64(len(c.events)) {
			return fmt.Errorf("chunk %d from event %d does not hold event %d", i, c.first, number)
		}
		for _, e := range c.events[number-c.first:] {
			if e.Version() <= last || e.Version() > version {
				return fmt.Errorf("event %d has version %d, after %d", number, e.Version(), last)
			}
			last = e.Version()
			bytes += e.pinned()
			number++
		}
	}
	switch {
	case number != w.next:
		return fmt.Errorf("the window ends before event %d, not %d", number, w.next)
	case bytes != w.bytes:
		return fmt.Errorf("the window keeps %d bytes, not %d", bytes, w.bytes)
	case w.next-w.first > 1 && (bytes > w.maxBytes || w.next-w.first > uint64(w.maxEvents)):
		return fmt.Errorf("%d events and %d bytes, more than %d and %d", w.next-w.first, bytes, w.maxEvents, w.maxBytes)
	}
	return nil
}
