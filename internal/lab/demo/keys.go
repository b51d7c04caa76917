package demo

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
)

// The keys that scenes are about.
const (
	redKey = Namespace + "/red"
	webKey = Namespace + "/web"
)

const (
	updates     = 100 // of the key while a worker holds it
	updateEvery = 25 * time.Millisecond
	oneKeyPool  = 3 // workers
)

var oneKey = Scene{
	Name:    "one-key",
	Options: Options{Bare: true, Follow: []string{"queue"}},
	workers: oneKeyPool,
	play:    playOneKey,
}

func playOneKey(on *Stage, ctx context.Context) error {
	name := story.NameOf(redKey)
	var changes []step
	for n := range updates {
		changes = append(changes, func(on *Stage, ctx context.Context) error {
			return on.label(ctx, name, "n="+strconv.Itoa(n+1))
		}, pause(updateEvery))
	}
	return script(
		chapter("first", "a worker reconciles "+redKey+" and is held at the gate G7, before Done"),
		closeGate(gate.G7, "key=="+redKey),
		startPlain(Plain{Workers: oneKeyPool}, name),
		awaitRun("the first pass", func(s *trace.State) bool { return queueOf(s).Got >= 1 }),
		pause(look),
		chapter("updates", "the script updates "+redKey+" a hundred times while the worker holds it"),
		tell(story.You, "kubectl -n %s label configmap %s n=1, and so on up to n=%d", Namespace, name, updates),
		script(changes...),
		awaitRun("a hundred calls", func(s *trace.State) bool { return handled(s) == 1+updates }),
		ask,
		chapter("done", "G7 lets Done through: the key is dirty, so Done queues it"),
		stepGate(gate.G7),
		pause(3*look), // a learner's queue may have lost the updates: then no pass comes
		openGate(gate.G7),
		awaitRun("an empty queue", atRest),
		chapter("end", "the controller is at rest"),
		conclude(func(_ *Stage, s *story.State) error {
			q := queueOf(s.Run)
			s.Figure(s.Say("Adds of %s", redKey), "%d, of which %d found it dirty",
				q.Added+q.Coalesced, q.Coalesced)
			s.Figure(s.Say("passes over %s", redKey), "%d", q.Done)
			s.Figure("workers at once", "%d of %d", q.Workers, oneKeyPool)
			return cmp.Or(
				bench.Prove("Adds that found the key dirty", updates-1, int(q.Coalesced)),
				bench.Prove("passes over "+redKey, 2, int(q.Done)),
				bench.Prove("workers at once", 1, q.Workers),
			)
		}),
	)(on, ctx)
}

var backOff = Scene{
	Name: "back-off",
	Options: Options{
		Bare: true, Follow: []string{"queue.retried", "queue.delayEnded", "queue.got", "queue.forgotten"},
	},
	workers: 1,
	play:    playBackOff,
}

func playBackOff(on *Stage, ctx context.Context) error {
	const failures, before = 6, 3
	fails := func(times int) step {
		return fault("internal-error:verb=get,resource=configmaps,user=%s,count=%d", spectatorsUser, times)
	}
	retried := func(n uint64) step {
		return awaitRun(fmt.Sprintf("failure %d", n), func(s *trace.State) bool { return queueOf(s).Retried >= n })
	}
	return script(
		chapter("fails", "each pass reads the object from the server, which answers 500 six times"),
		fails(failures),
		closeGate(gate.G5, fmt.Sprintf("failures>%d", before-1)),
		startPlain(Plain{Workers: 1, Retry: 200 * time.Millisecond}, story.NameOf(webKey)),
		retried(before),
		chapter("held", "three passes have failed; the fourth is held at the gate G5"),
		ask,
		chapter("on", "G5 is open: three more passes fail, and then one succeeds"),
		openGate(gate.G5),
		retried(before+1),
		reveal,
		awaitRun("a pass that succeeds", atRest),
		chapter("end", "the pass has succeeded, and Forget has cleared the failures; now one more pass fails"),
		fails(1),
		label(webKey, "n=1"),
		retried(failures+1),
		awaitRun("an empty queue", atRest),
		conclude(func(_ *Stage, s *story.State) error {
			var all []string
			for _, e := range told(s, 0, "queue.retried") {
				all = append(all, story.Short(time.Duration(e.Micros)*time.Microsecond))
			}
			delays := strings.Join(all, ", ")
			s.Figure(s.Say("delays of %s", webKey), "%s", delays)
			return bench.Prove("delays of "+webKey, "200ms, 400ms, 800ms, 1.6s, 3.2s, 6.4s, 200ms", delays)
		}),
	)(on, ctx)
}
