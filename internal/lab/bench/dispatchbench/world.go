package dispatchbench

import (
	"context"
	"time"

	"orrery/internal/lab/bench"
)

// world is an informer with its handlers, and the script that is played to them.
type world struct {
	informer  Informer
	script    *script
	witnesses []*witness
	state     *state
	states    []int // by event: the number of the state in the informer
	sent      int   // events, marks not included
	marks     int
}

// newWorld loads everything that is going to be sent and starts the informer, with its handlers synced.
func newWorld(subject Subject, cfg Config, s *script, buffer int, prepare func(handler int, w *witness)) (*world, error) {
	informer, err := subject.New(cfg.Kind)
	if err != nil {
		return nil, err
	}
	w := &world{informer: informer, script: s, state: newState(s)}
	first, err := informer.Load(document(cfg.ObjectSize))
	if err != nil {
		return nil, err
	}
	var listed []int
	for object := range s.keys {
		listed = append(listed, informer.Copy(first, s.initialIdentity(object)))
	}
	for i := range s.events {
		w.states = append(w.states, informer.Copy(first, s.identity(i)))
	}
	for handler := range cfg.Handlers {
		witness := newWitness(s, subject.Merges())
		if prepare != nil {
			prepare(handler, witness)
		}
		w.witnesses = append(w.witnesses, witness)
		if err := informer.AddHandler(witness); err != nil {
			return nil, err
		}
	}
	return w, informer.Start(listed, buffer)
}

// play sends the next n events as fast as they are taken.
func (w *world) play(n int) {
	for range n {
		w.send()
	}
}

// send sends the next event.
func (w *world) send() {
	i := w.sent % w.script.laps
	w.informer.Send(w.states[i])
	w.state.sent(i)
	w.sent++
}

// count makes the handlers count the next n updates without looking at them, until resume. Call both after settle.
func (w *world) count(n int) {
	for _, witness := range w.witnesses {
		witness.count(n)
	}
}

func (w *world) resume() {
	for _, witness := range w.witnesses {
		witness.resume(w.state)
	}
}

// patience is how long a handler may take to be told of what was sent, before it counts as lost: far longer than it does even on a machine
// that has little time for it.
const patience = 5 * time.Minute

// settle sends the mark and waits until every handler was told of it, and so of everything before it.
func (w *world) settle(ctx context.Context) error {
	i := w.script.laps + w.marks%marks
	w.marks++
	w.informer.Send(w.states[i])
	w.state.sent(i)
	late := time.NewTimer(patience)
	defer late.Stop()
	for _, witness := range w.witnesses {
		select {
		case <-witness.marked:
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return &bench.ProofError{What: "the last event, told to every handler", Want: "told", Got: "not told within " + patience.String()}
		}
	}
	return nil
}

// verify proves that every handler was told everything, and that the store holds what came of it. Call it after settle.
func (w *world) verify() error {
	for _, witness := range w.witnesses {
		if err := witness.verify(w.sent, w.state); err != nil {
			return err
		}
	}
	return w.state.verify(w.informer.Versions())
}
