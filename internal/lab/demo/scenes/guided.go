package scenes

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
	"orrery/wait"
)

// What the view shows of scenes that play on single gears in the terminal: the same gear inside of
// a plain controller of configmaps.

// ask asks the scene's question in the view. Without a reader it returns at once.
func ask(ctx context.Context, on *stage.Stage) error {
	if on.Guide() == nil {
		return nil
	}
	on.Tell(story.Demo, "the view asks a question; the scene goes on with your answer")
	return on.Guide().Ask(ctx)
}

// chapter begins a chapter of the view's story. now says the same to the terminal.
func chapter(on *stage.Stage, name, now string) {
	on.Guide().Chapter(name)
	on.Enter(name, now)
}

// awaitState returns when the recorded run has reached a state.
func awaitState(ctx context.Context, on *stage.Stage, holds func(*trace.State) bool) error {
	const often = 10 * time.Millisecond
	return wait.PollUntilContextCancel(ctx, often, true, func(context.Context) (bool, error) {
		return holds(on.Guide().Recorded()), nil
	})
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

// atRest reports whether nothing waits in the informer, its handlers and the queue.
func atRest(s *trace.State) bool {
	for _, h := range informerOf(s).Handlers {
		if h.Pending > 0 {
			return false
		}
	}
	q := queueOf(s)
	return informerOf(s).FIFO.Total == 0 && informerOf(s).FIFO.InFlight == nil && q.Total == 0 && len(q.Processing) == 0 && q.DelayedTotal == 0
}

// labelled sets the label n of a configmap.
func labelled(ctx context.Context, on *stage.Stage, key string, n int) error {
	return on.LabelConfigMap(ctx, nameOf(key), "n", strconv.Itoa(n))
}

func nameOf(key string) string { _, name, _ := strings.Cut(key, "/"); return name }

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

func guidedOneKey(ctx context.Context, on *stage.Stage) error {
	gates := on.Gates()
	return inOrder(
		func() error {
			chapter(on, "first", "a worker reconciles "+gate.HotKey+" and is held at the gate G7, before Done")
			gates.Close(gate.G7, only(gate.HotKey))
			return startPlain(ctx, on, stage.Plain{Workers: oneKeyPool}, "red")
		},
		func() error { return awaitState(ctx, on, func(s *trace.State) bool { return queueOf(s).Got >= 1 }) },
		func() error { return wait.Sleep(ctx, look) },
		func() error {
			chapter(on, "updates", "the script updates "+gate.HotKey+" a hundred times while the worker holds it")
			return on.UpdateConfigMap(ctx, nameOf(gate.HotKey), addsInPass, addEvery)
		},
		func() error {
			return awaitState(ctx, on, func(s *trace.State) bool { return handled(s) == 1+addsInPass })
		},
		func() error { return ask(ctx, on) },
		func() error {
			chapter(on, "done", "G7 lets Done through: the key is dirty, so Done queues it")
			gates.Step(gate.G7)
			return wait.Sleep(ctx, 3*look) // a learner's queue may have lost the updates: then no pass comes
		},
		func() error {
			gates.Open(gate.G7)
			return awaitState(ctx, on, atRest)
		},
		func() error {
			chapter(on, "end", "the controller is at rest")
			on.Guide().Reveal()
			return nil
		},
	)
}

func guidedSlowConsumer(ctx context.Context, on *stage.Stage) error {
	const updates = 5
	gates := on.Gates()
	var see func()
	return inOrder(
		func() error {
			return startPlain(ctx, on, stage.Plain{Workers: 1}, "red", "green", "blue")
		},
		func() error {
			return awaitState(ctx, on, func(s *trace.State) bool { return queueOf(s).Done == 3 && atRest(s) })
		},
		func() error {
			chapter(on, "start", "an informer has listed three configmaps and watches them")
			return wait.Sleep(ctx, look)
		},
		func() error {
			chapter(on, "late", "the consumer is held at the gate G2, before its next Pop; the watch goes on")
			gates.Close(gate.G2, gate.Condition{})
			for n := range updates {
				if err := inOrder(
					func() error { return labelled(ctx, on, gate.SlowKey, n) },
					func() error { return wait.Sleep(ctx, step) },
				); err != nil {
					return err
				}
			}
			return inOrder(
				func() error { return labelled(ctx, on, "shop/green", 1) },
				func() error { return on.DeleteConfigMap(ctx, nameOf(gate.SlowKey)) },
			)
		},
		func() error {
			return awaitState(ctx, on, func(s *trace.State) bool { return informerOf(s).FIFO.Queued >= 3+updates+2 })
		},
		func() (err error) {
			chapter(on, "list", "the watch breaks and expires: the reflector lists again, and the list has no "+
				""+gate.SlowKey)
			see, err = blind(ctx, on, func() error { return labelled(ctx, on, "shop/green", 2) })
			return err
		},
		func() error {
			see()
			return awaitState(ctx, on, func(s *trace.State) bool { return informerOf(s).FIFO.Replaces >= 2 })
		},
		func() error { return ask(ctx, on) },
		func() error {
			chapter(on, "pop", "G2 lets one Pop through after the other")
			for range 3 {
				if gates.Step(gate.G2); wait.Sleep(ctx, look) != nil {
					return ctx.Err()
				}
			}
			gates.Open(gate.G2)
			return awaitState(ctx, on, atRest)
		},
		func() error {
			chapter(on, "end", "the controller is at rest")
			on.Guide().Reveal()
			return nil
		},
	)
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

func guidedBackOff(ctx context.Context, on *stage.Stage) error {
	const first, longest = 200 * time.Millisecond, time.Minute
	const failures, before = 6, 3
	gates := on.Gates()
	return inOrder(
		func() error {
			chapter(on, "fails", "each pass reads the object from the server, which answers 500 six times")
			_, err := on.Fault(fmt.Sprintf("internal-error:verb=get,resource=configmaps,user=%s,count=%d", stage.SpectatorsUser, failures))
			return err
		},
		func() error {
			condition, err := gate.ParseCondition(fmt.Sprintf("failures>%d", before-1))
			gates.Close(gate.G5, condition)
			return err
		},
		func() error {
			return startPlain(ctx, on, stage.Plain{Workers: 1, FirstDelay: first, LongestDelay: longest,
				Reads: true}, nameOf(gate.FailKey))
		},
		func() error {
			return awaitState(ctx, on, func(s *trace.State) bool { return queueOf(s).Retried >= before })
		},
		func() error {
			chapter(on, "held", "three passes have failed; the fourth is held at the gate G5")
			return ask(ctx, on)
		},
		func() error {
			chapter(on, "on", "G5 is open: three more passes fail, and then one succeeds")
			gates.Open(gate.G5)
			return awaitState(ctx, on, func(s *trace.State) bool { return queueOf(s).Retried > before })
		},
		func() error { on.Guide().Reveal(); return nil },
		func() error { return awaitState(ctx, on, atRest) },
		func() error {
			chapter(on, "end", "the pass has succeeded, and Forget has cleared the failures")
			return nil
		},
	)
}
