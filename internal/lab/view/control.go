package view

import (
	"fmt"
	"slices"

	"orrery/internal/observe/view"
)

var _ view.Control = (*Gates)(nil)

// Do carries out a command of the page in control.
func (g *Gates) Do(c view.Command) error {
	where, err := ParseCondition(c.Where)
	if err != nil {
		return err
	}
	id := ID(c.Gate)
	if needsGate := c.Do == "close" || c.Do == "open" || c.Do == "step" && id != ""; needsGate && !slices.Contains(IDs(), id) {
		return fmt.Errorf("there is no gate %q", c.Gate)
	}
	switch c.Do {
	case "close":
		g.Close(id, where)
	case "open":
		g.Open(id)
	case "step":
		if id == "" {
			id = g.oldest()
		}
		if id != "" {
			g.Step(id)
		}
	case "run":
		if where.String() == "" {
			return fmt.Errorf("a condition is missing, such as key==demo")
		}
		g.RunTo(where)
	case "release":
		g.Release()
	default:
		return fmt.Errorf("there is no command %q", c.Do)
	}
	return nil
}

// oldest returns the gate of the item that has waited longest; "" if none waits.
func (g *Gates) oldest() (id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := uint64(0)
	for name, gate := range g.gates {
		if len(gate.waiting) > 0 && (id == "" || gate.waiting[0].number < first) {
			id, first = name, gate.waiting[0].number
		}
	}
	return id
}

// State returns what the page shows of the gates, and a channel that is closed when it changes.
func (g *Gates) State() (state view.ControlState, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range IDs() {
		gate := g.gates[id]
		state.Gates = append(state.Gates, view.GateState{
			Name: string(id), Wired: gate.wired, Closed: gate.closed, Where: gate.only.String(), Waiting: len(gate.waiting),
		})
	}
	if g.runTo != nil {
		state.RunTo = g.runTo.condition.String()
	}
	return state, g.changed
}
