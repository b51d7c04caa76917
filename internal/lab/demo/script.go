package demo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"orrery/internal/observe/trace"
	"orrery/wait"
)

// step is a step of a script. Many are methods of the stage.
type step func(*Stage, context.Context) error

// script returns the steps as one, which ends with the first that fails.
func script(steps ...step) step {
	return func(on *Stage, ctx context.Context) error {
		for _, next := range steps {
			if err := next(on, ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// do is a step that cannot fail.
func do(f func(on *Stage)) step {
	return func(on *Stage, _ context.Context) error {
		f(on)
		return nil
	}
}

// update is a step that changes the story.
func update(change func(*State)) step { return do(func(on *Stage) { on.Update(change) }) }

// pause gives the reader time to look.
func pause(d time.Duration) step {
	return func(_ *Stage, ctx context.Context) error { return wait.Sleep(ctx, d) }
}

// tell adds a beat.
func tell(who Who, format string, args ...any) step {
	return do(func(on *Stage) { on.Tell(who, format, args...) })
}

// begin shows what is happening from now on; enter tells it as well.
func begin(now string) step { return do(func(on *Stage) { on.Enter(now) }) }

func enter(now string) step { return script(begin(now), tell(Demo, "%s", now)) }

// chapter begins a chapter of the view's story. now, if not "", says the same on the terminal.
func chapter(name, now string) step {
	return func(on *Stage, ctx context.Context) error {
		on.Gates.Chapter(name)
		if now == "" {
			return nil
		}
		return enter(now)(on, ctx)
	}
}

// ask asks the scene's question in the view. Without a reader it returns at once.
func ask(on *Stage, ctx context.Context) error {
	if !on.Gates.Guided() {
		return nil
	}
	on.Tell(Demo, "the view asks a question; the scene goes on with your answer")
	return on.Gates.Ask(ctx)
}

// reveal tells a reader the answer.
func reveal(on *Stage, _ context.Context) error {
	on.Gates.Reveal()
	return nil
}

// conclude reveals the answer to a reader, who may have opened any gate. Without a reader the
// figures must be those that the scene is there to show; prove shows them.
func conclude(prove func(on *Stage, s *State) error) step {
	return func(on *Stage, _ context.Context) (err error) {
		on.Update(func(s *State) { err = prove(on, s) })
		if on.Gates.Guided() {
			on.Gates.Reveal()
			return nil
		}
		return err
	}
}

// await returns when the condition holds.
func await(holds func(*State) bool) step {
	return func(on *Stage, ctx context.Context) error { return on.Await(ctx, holds) }
}

// awaitRun returns when the recorded run has reached a state. what names it.
func awaitRun(what string, holds func(*trace.State) bool) step {
	return soon(what, func(s *State) bool { return holds(s.Run) })
}

// soon waits for a condition in a scene on single gears. It fails after a time in which sound gears
// reach it, unless a user holds them.
func soon(what string, holds func(*State) bool) step {
	return func(on *Stage, ctx context.Context) error {
		if on.held {
			return on.Await(ctx, holds)
		}
		const limit = 20 * time.Second
		limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s: did not happen within %v", what, limit))
		defer cancel()
		if on.Await(limited, holds) != nil {
			return context.Cause(limited)
		}
		return nil
	}
}

// fault injects a fault into the server.
func fault(format string, args ...any) step {
	return func(on *Stage, _ context.Context) error {
		_, err := on.fault(fmt.Sprintf(format, args...))
		return err
	}
}

// fault injects a fault into the server, and reports it.
func (s *Stage) fault(text string) (id string, err error) {
	s.Tell(Demo, "a fault is injected into the server: --fault %s", text)
	return s.server.Faults().Add(text)
}

// during runs steps while the server has a fault.
func during(fault string, steps ...step) step {
	return func(on *Stage, ctx context.Context) error {
		id, err := on.fault(fault)
		if err != nil {
			return err
		}
		defer on.server.Faults().Remove(id)
		return script(steps...)(on, ctx)
	}
}

// reported reports whether the namespace has the condition, or has gone: the user may have deleted
// its content.
func reported(condition string) func(*State) bool {
	return func(s *State) bool {
		return slices.Contains(s.Namespace.Conditions, condition) || s.Namespace.Phase == Gone
	}
}

// emptied waits until only objects with a finalizer are left.
func emptied(on *Stage, ctx context.Context) error {
	return on.Await(ctx, func(state *State) bool {
		left := state.TypeNamed("crontabs").Left
		return state.Total().Left == left && left <= min(finalizers, on.numbers[theCronTabs])
	})
}

// gone waits until the namespace has gone.
var gone = await(func(s *State) bool { return s.Namespace.Phase == Gone })

// toFinalizers fills the namespace, does more, deletes the namespace, and returns when only objects
// with a finalizer are left. The requests of the deletion are slow, and said to be.
func toFinalizers(more ...step) step {
	return script(
		tell(Demo, "slow motion: the server delays each deletecollection so that you can follow; "+
			"everything else runs at full speed"),
		during("delay:by=150ms,verb=deletecollection",
			(*Stage).Fill, script(more...), pause(look), (*Stage).DeleteNamespace, emptied),
	)
}

// closeGate closes a gate for keys with at least so many failures.
func closeGate(id GateID, failures int) step {
	return do(func(on *Stage) { on.Gates.Close(id, Filter{Failures: failures}) })
}

// openGate opens a gate.
func openGate(id GateID) step {
	return do(func(on *Stage) { on.Gates.Open(id) })
}

// stepGate lets the oldest item at a gate through.
func stepGate(id GateID) step {
	return do(func(on *Stage) { on.Gates.Step(id) })
}

// blind cuts the watches of the spectators' user and lets no new one through until what follows
// the changes is done. The changes are in no watch: the server forgets its history.
func blind(changes step, then ...step) step {
	return during("delay:by=1h,verb=watch,user="+spectatorsUser,
		fault("cut-watches"), changes, pause(look), fault("compact"), script(then...))
}

// answered returns how many requests of the recorded clients have been answered.
func answered(on *Stage) (n uint64) {
	on.Update(func(s *State) { n = s.Run.Requests.Done })
	return n
}

// answersSince returns the answers after the first n, of the latest fifty.
func answersSince(s *trace.State, n uint64) (answers []*trace.RequestState) {
	all := s.Requests.Answered()
	for _, begun := range all[len(all)-min(len(all), int(s.Requests.Done-n)):] {
		answers = append(answers, s.Requests.Latest[begun])
	}
	return answers
}

// told returns the events of this name that were told since beat number from.
func told(s *State, from int, name string) (events []trace.Event) {
	for _, beat := range s.Beats[from:] {
		if beat.Event.Name == name {
			events = append(events, beat.Event)
		}
	}
	return events
}

// informerOf and queueOf are the parts of a state that belong to the plain controller.
func informerOf(s *trace.State) *trace.InformerState {
	return cmp.Or(s.Informers["configmaps"], &trace.InformerState{})
}

func queueOf(s *trace.State) *trace.QueueState {
	return cmp.Or(s.Queues["configmaps"], &trace.QueueState{})
}

// handled returns how many calls the handlers have got.
func handled(s *trace.State) (calls int64) {
	for _, h := range informerOf(s).Handlers {
		calls += int64(h.Handled)
	}
	return calls
}

// atRest reports whether nothing waits in the informer, its handlers and the queue. A key with
// failures will be retried, also if its delay is not recorded yet.
func atRest(s *trace.State) bool {
	for _, h := range informerOf(s).Handlers {
		if h.Pending > 0 {
			return false
		}
	}
	q := queueOf(s)
	fifo := informerOf(s).FIFO
	return fifo.Total == 0 && fifo.InFlight == nil &&
		q.Total == 0 && len(q.Processing) == 0 && q.DelayedTotal == 0 && len(q.Failures) == 0
}
