package dispatchbench

import (
	"context"
	"maps"
	"time"

	"orrery/internal/lab/bench"
)

// world is an informer with its handlers, and the script that is played to them.
type world struct {
	informer  Informer
	script    *script
	witnesses []*witness
	state     *state
	states    []int // by event: the number of its state in the informer
	sent      int   // events, marks not included
	marks     int
}

// newWorld loads all states and starts the informer, with its handlers synced.
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

// play sends the next n events as fast as the informer takes them.
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

// count makes the handlers count the next n updates unchecked, until resume. Call both after drain.
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

// deliveryTimeout is how long a handler may take to receive an event before the event counts as
// lost. It is long enough for an overloaded machine.
const deliveryTimeout = 5 * time.Minute

// drain sends the mark and waits until every handler has received it, and so everything before it.
func (w *world) drain(ctx context.Context) error {
	i := w.script.laps + w.marks%marks
	w.marks++
	w.informer.Send(w.states[i])
	w.state.sent(i)
	timer := time.NewTimer(deliveryTimeout)
	defer timer.Stop()
	for _, witness := range w.witnesses {
		select {
		case <-witness.marked:
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return &bench.ProofError{What: "the last event", Want: "delivered to every handler", Got: "not delivered within " + deliveryTimeout.String()}
		}
	}
	return nil
}

// verify proves that every handler received everything, and that the store holds the final state.
// Call it after drain.
func (w *world) verify() error {
	for _, witness := range w.witnesses {
		if err := witness.verify(w.sent, w.state); err != nil {
			return err
		}
	}
	return w.state.verify(w.informer.Versions())
}

// state is the expected result of the events sent so far. It is owned by the driver.
type state struct {
	script *script
	last   []int32 // by object: the last event sent; -1 if it has none
}

func newState(s *script) *state {
	return &state{script: s, last: append([]int32(nil), s.last...)}
}

func (st *state) sent(i int) {
	st.last[st.script.events[i].object] = int32(i)
}

// verify compares a store with the expected state.
func (st *state) verify(versions map[string]string) error {
	want := make(map[string]string, len(st.last))
	for object, last := range st.last {
		id := st.script.initialIdentity(object)
		if last >= 0 {
			id = st.script.identity(int(last))
		}
		want[st.script.keys[object]] = id.ResourceVersion
	}
	if maps.Equal(want, versions) {
		return nil
	}
	if err := bench.Prove("objects in the store", len(want), len(versions)); err != nil {
		return err
	}
	for key, version := range want {
		if err := bench.Prove("version of "+key+" in the store", version, versions[key]); err != nil {
			return err
		}
	}
	return nil
}
