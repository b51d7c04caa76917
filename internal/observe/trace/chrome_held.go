package trace

import (
	"cmp"
	"slices"
	"strings"
)

// heldTrack is the track of a worker or listener whose item waits at a gate of the laboratory. Its
// slices are closed meanwhile, so that their lengths have no time in which a reader looked at them.
type heldTrack struct {
	gate  string
	items int  // of a pass, several requests may wait
	slice span // the time at the gate
}

// held closes the slices of what waits, and opens one for the time at the gate.
func (c *chrome) held(e *Event) {
	slot, s, ok := c.waits(e)
	if !ok {
		return
	}
	if h := c.holds[slot]; h != nil {
		h.items++
		return
	}
	if phase, ok := c.phaseOf(slot); ok {
		c.complete(phase, map[string]any{"held": true})
	}
	c.complete(s, map[string]any{"held": true})
	c.holds[slot] = &heldTrack{e.Gate, 1, c.begin(s.pid, s.tid, "held at "+e.Gate)}
}

// stepped opens the slices of an item that goes on.
func (c *chrome) stepped(e *Event) {
	slot, _, ok := c.waits(e)
	if h := c.holds[slot]; ok && h != nil && h.gate == e.Gate {
		if h.items--; h.items == 0 {
			c.resume(slot)
		}
	}
}

// released opens the slices of all that waits at a gate; "" are all gates.
func (c *chrome) released(gate string) {
	for slot, h := range c.holds {
		if gate == "" || h.gate == gate {
			c.resume(slot)
		}
	}
}

// resume opens what was open before the hold. It is also called when the gear goes on, whatever the
// gates say.
func (c *chrome) resume(slot string) {
	h := c.holds[slot]
	if h == nil {
		return
	}
	delete(c.holds, slot)
	c.complete(h.slice, nil)
	for _, open := range []map[string]span{c.calls, c.passes} {
		if s, ok := open[slot]; ok {
			open[slot] = c.begin(s.pid, s.tid, s.name)
		}
	}
	if phase, ok := c.phaseOf(slot); ok {
		c.phases[strings.TrimPrefix(slot, namespaceQueue)] = c.begin(phase.pid, phase.tid, phase.name)
	}
}

// phaseOf returns the phase that the pass in a slot is in.
func (c *chrome) phaseOf(slot string) (span, bool) {
	key, ok := strings.CutPrefix(slot, namespaceQueue)
	phase, found := c.phases[key]
	return phase, ok && found
}

// waits returns the slot and the slice of what waits. Of several calls about one key, it is the one
// that began last, if it does not wait yet. A request that names no object belongs to no slice.
func (c *chrome) waits(e *Event) (slot string, s span, ok bool) {
	switch e.Gate {
	case "G4":
		var slots []string
		for slot, s := range c.calls {
			isHeld := c.holds[slot] != nil
			if strings.HasPrefix(slot, e.In+" ") && strings.HasSuffix(s.name, " "+e.Key) && isHeld == (e.Name == "lab.stepped") {
				slots = append(slots, slot)
			}
		}
		if len(slots) == 0 {
			return "", span{}, false
		}
		slot = slices.MaxFunc(slots, func(a, b string) int { return cmp.Or(cmp.Compare(c.calls[a].at, c.calls[b].at), cmp.Compare(a, b)) })
		return slot, c.calls[slot], true
	case "G5", "G7":
		slot = e.In + " " + e.Key
	case "G6":
		namespace, _, _ := strings.Cut(e.Key, "/")
		slot = namespaceQueue + namespace
	}
	s, ok = c.passes[slot]
	return slot, s, ok
}
