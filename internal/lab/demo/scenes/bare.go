package scenes

import (
	"context"
	"strconv"
	"strings"

	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
	"orrery/wait"
)

// What the scenes on a plain controller of configmaps share.

// ask asks the scene's question in the view. Without a reader it returns at once.
func ask(ctx context.Context, on *stage.Stage) error {
	if on.Guide() == nil {
		return nil
	}
	on.Tell(story.Demo, "the view asks a question; the scene goes on with your answer")
	return on.Guide().Ask(ctx)
}

// chapter begins a chapter of the view's story. now says the same on the terminal.
func chapter(on *stage.Stage, name, now string) {
	on.Guide().Chapter(name)
	on.Enter(name, now)
	on.Tell(story.Demo, "%s", now)
}

// awaitRun returns when the recorded run has reached a state. what names it.
func awaitRun(ctx context.Context, on *stage.Stage, what string, holds func(*trace.State) bool) error {
	return soon(ctx, on.Teller(), what, func(s *story.State) bool { return holds(s.Run) })
}

// conclude reveals the answer to a reader, who may have opened any gate. Without a reader the
// figures must be those that the scene is there to show.
func conclude(on *stage.Stage, proof error) error {
	if on.Guide() == nil {
		return proof
	}
	on.Guide().Reveal()
	return nil
}

// answered returns how many requests of the recorded clients have been answered.
func answered(on *stage.Stage) (n uint64) {
	on.Teller().Update(func(s *story.State) { n = s.Run.Requests.Done })
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

// told returns what follows the words in each beat of an actor since number from.
func told(s *story.State, from int, who story.Who, words string) (rest []string) {
	for _, beat := range s.Beats[from:] {
		if _, after, found := strings.Cut(beat.Text, words); found && beat.Who == who {
			rest = append(rest, after)
		}
	}
	return rest
}

// informerOf and queueOf are the parts of a state that belong to the plain controller.
func informerOf(s *trace.State) *trace.InformerState {
	if i := s.Informers["configmaps"]; i != nil {
		return i
	}
	return &trace.InformerState{}
}

func queueOf(s *trace.State) *trace.QueueState {
	if q := s.Queues["configmaps"]; q != nil {
		return q
	}
	return &trace.QueueState{}
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

// labelled sets the label n of a configmap.
func labelled(ctx context.Context, on *stage.Stage, key string, n int) error {
	return on.LabelConfigMap(ctx, story.NameOf(key), "n", strconv.Itoa(n))
}

// startPlain creates configmaps and starts a plain controller, which comes to rest.
func startPlain(ctx context.Context, on *stage.Stage, config stage.Plain, names ...string) error {
	if err := on.CreateNamespace(ctx); err != nil {
		return err
	}
	for _, name := range names {
		if err := on.CreateConfigMap(ctx, name); err != nil {
			return err
		}
	}
	return on.StartPlain(ctx, config)
}

// The reader may open and step every gate at any time, so a script never waits for an item at a
// gate.

// only is the condition of a gate that holds one key.
func only(key string) gate.Condition {
	condition, err := gate.ParseCondition("key==" + key)
	if err != nil {
		panic(err) // the keys are constant
	}
	return condition
}

// blind cuts the watches of the spectators' user and lets no new one through until see is called.
// What change does in between is in no watch: the server forgets its history.
func blind(ctx context.Context, on *stage.Stage, change func() error) (see func(), err error) {
	obstacle, err := on.Fault("delay:by=1h,verb=watch,user=" + stage.SpectatorsUser)
	if err != nil {
		return nil, err
	}
	return func() { on.Repair(obstacle) }, inOrder(
		func() error { _, err := on.Fault("cut-watches"); return err },
		change,
		func() error { return wait.Sleep(ctx, look) },
		func() error { _, err := on.Fault("compact"); return err },
	)
}
