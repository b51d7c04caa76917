package scenes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orrery/controller/gears"
	"orrery/deltafifo"
	"orrery/informer"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/restclient/api"
	"orrery/wait"
)

var storeDecides = Scene{
	Name:    "store-decides",
	Summary: "one type of delta causes three different calls, because the store decides",
	Happens: "An informer lists and watches some configmaps. Its watch breaks, objects change, and it has to list everything again.",
	Look:    "Watch each delta beside the call that follows it. Whatever the second list brings is Replaced, and yet the calls differ.",
	Options: stage.Options{Bare: true},
	Lesson: display.Lesson{
		Learnt: []string{
			"The type of a delta says how the informer heard of an object. Whether that is an addition or an update for the handlers depends on what the store had before.",
			"A list brings every object as Replaced: new ones, changed ones and unchanged ones. An object that the store lacks causes OnAdd, one with another resourceVersion OnUpdate.",
			"An object with the resourceVersion of the store has not changed. No handler is called for it, unless its resync is due.",
			"An object that the list lacks gets a tombstone, and the handlers get OnDelete with the last known state.",
		},
		Read: []display.Reading{
			{File: "informer/handle_deltas.go", Why: "handleDelta, apply and isSync: from a delta to a notification"},
			{File: "workshop/labs/07-handle-deltas/README.md", Why: "the lab in which you write this page"},
			{File: "informer/handler.go", Why: "what the three callbacks promise"},
			{Gear: "indexer", Form: gears.Textbook, File: "indexer/store.go", Why: "Update returns the previous object"},
			{Gear: "indexer", Form: gears.Fast, File: "indexer/fast/index.go", Why: "put returns the previous object"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		calls := &deltaCalls{on: on, rows: map[string]*deltaCall{}, tally: map[string]int{}}
		create := func(name string) func() error { return func() error { return on.CreateConfigMap(ctx, name) } }
		label := func(name string) func() error {
			return func() error { return on.LabelConfigMap(ctx, name, "ripe", "yes") }
		}
		var see func()
		return inOrder(
			func() error { return on.CreateNamespace(ctx) },
			create("apple"), create("pear"), create("plum"),
			func() error {
				on.Guide().Chapter("first")
				on.Enter("the first list", "the store is empty; the first list has three objects")
				return nil
			},
			func() error { return calls.start(ctx) },
			func() error { return calls.settle(ctx, 3, 3) },
			func() error {
				on.Guide().Chapter("watch")
				on.Enter("two events of the watch", "the watch reports a new object and a change")
				return nil
			},
			create("fig"), label("apple"),
			func() error { return calls.settle(ctx, 2, 2) },
			func() (err error) {
				on.Guide().Chapter("blind")
				on.Enter("no watch is open", "the watch is cut, and a new one does not get through")
				see, err = blind(ctx, on, func() error {
					return inOrder(label("pear"), create("kiwi"), func() error { return on.DeleteConfigMap(ctx, "plum") })
				})
				return err
			},
			func() error { return ask(ctx, on) },
			func() error {
				on.Enter("the second list", "410 Expired: the informer lists everything again, after a back-off")
				see()
				return calls.stepThrough(ctx)
			},
			func() error { return calls.settle(ctx, 5, 3) },
			func() error { on.Guide().Chapter("end"); on.Guide().Reveal(); return nil },
			func() error {
				return calls.expect(map[string]int{
					"Replaced OnAdd": 4, "Added OnAdd": 1, "Updated OnUpdate": 1, "Replaced OnUpdate": 1, "Replaced no call": 2, "Deleted OnDelete": 1,
				})
			},
		)
	},
}

// deltaCall is a delta with what the store had before and the call that followed.
type deltaCall struct{ delta, store, call string }

// deltaCalls records the deltas that an informer's queue hands out and the calls that its handler
// gets.
type deltaCalls struct {
	on       *stage.Stage
	informer *stage.Informer

	// The teller's lock guards the fields below.
	rows   map[string]*deltaCall // since the last settle, by name
	called int
	tally  map[string]int // all of them, by delta and call
}

// noCall is the call of a delta for which no handler is called.
const noCall = "no call"

// start starts the informer.
func (c *deltaCalls) start(ctx context.Context) error {
	client, err := c.on.NewClient(nil)
	if err != nil {
		return err
	}
	c.informer = c.on.NewInformer(client, informer.Config[*api.PartialObjectMetadata]{
		QueueTrace: &deltafifo.Trace[*api.PartialObjectMetadata]{Popped: c.popped},
	})
	_, err = c.informer.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{
		AddFunc:    func(o *api.PartialObjectMetadata, _ bool) { c.handled("OnAdd", o.Name) },
		UpdateFunc: func(_, o *api.PartialObjectMetadata) { c.handled("OnUpdate", o.Name) },
		DeleteFunc: func(deleted informer.DeletedObject[*api.PartialObjectMetadata]) {
			c.handled("OnDelete", deleted.Object.Name)
		},
	}, informer.HandlerOptions{Name: "calls"})
	if err != nil {
		return err
	}
	return c.on.RunInformer(ctx, c.informer)
}

// stepThrough shows a reader of the view what the second list brings, one object at a time, until
// its three calls have happened: the gate G3 holds what is stored and not distributed.
func (c *deltaCalls) stepThrough(ctx context.Context) error {
	const calls = 3
	guide, gates := c.on.Guide(), c.on.Gates()
	if guide == nil {
		return nil
	}
	guide.Chapter("g3")
	gates.Close(gate.G3, gate.Condition{})
	defer gates.Open(gate.G3)
	return wait.PollUntilContextCancel(ctx, look, false, func(context.Context) (bool, error) {
		gates.Step(gate.G3)
		var called int
		c.on.Teller().Update(func(*story.State) { called = c.called })
		return called >= calls, nil
	})
}

// popped is called before the store changes.
func (c *deltaCalls) popped(key string, deltas deltafifo.Deltas[*api.PartialObjectMetadata], _ bool, _ int) {
	old, exists := c.informer.GetIndexer().GetByKey(key)
	d := deltas[0] // events are far enough apart
	had := "the store lacks it"
	switch {
	case exists && old.ResourceVersion == d.Object.ResourceVersion && d.Type != deltafifo.Deleted:
		had = "the store has this version"
	case exists:
		had = "the store has version " + old.ResourceVersion
	}
	_, name, _ := strings.Cut(key, "/")
	c.on.Teller().Update(func(s *story.State) {
		c.rows[name] = &deltaCall{string(d.Type), had, noCall}
		s.Tell(story.FIFO, "%s: popped with the delta %s; %s", name, d.Type, had)
		c.show(s)
	})
}

// handled is called by the handler.
func (c *deltaCalls) handled(call, name string) {
	c.on.Teller().Update(func(s *story.State) {
		if row := c.rows[name]; row != nil {
			row.call = call
		}
		c.called++
		s.Tell(story.Handler, "%s(%s)", call, name)
		c.show(s)
	})
}

func (c *deltaCalls) show(s *story.State) {
	s.Panel = nil
	for _, name := range slices.Sorted(maps.Keys(c.rows)) {
		row := c.rows[name]
		s.Show(name, "%-9s %-28s %s", row.delta, row.store, row.call)
	}
}

// settle waits for a number of deltas and of calls since the last time, and counts them.
func (c *deltaCalls) settle(ctx context.Context, deltas, calls int) error {
	what := fmt.Sprintf("%d deltas and %s", deltas, counted(calls, "call", "calls"))
	if err := soon(ctx, c.on.Teller(), what, func(*story.State) bool { return len(c.rows) >= deltas && c.called >= calls }); err != nil {
		return err
	}
	if err := wait.Sleep(ctx, 2*look); err != nil {
		return err
	}
	c.on.Teller().Update(func(*story.State) {
		for _, row := range c.rows {
			c.tally[row.delta+" "+row.call]++
		}
		c.rows, c.called = map[string]*deltaCall{}, 0
	})
	return nil
}

// expect shows the counts, which must be those of want.
func (c *deltaCalls) expect(want map[string]int) error {
	c.on.Teller().Update(func(s *story.State) {
		for _, delta := range []deltafifo.DeltaType{deltafifo.Added, deltafifo.Updated, deltafifo.Replaced, deltafifo.Deleted} {
			var parts []string
			for _, call := range []string{"OnAdd", "OnUpdate", "OnDelete", noCall} {
				if n := c.tally[string(delta)+" "+call]; n > 0 {
					parts = append(parts, fmt.Sprintf("%s: %d", call, n))
				}
			}
			s.Figure(string(delta), "%s", strings.Join(parts, ", "))
		}
	})
	return bench.Prove("calls after each type of delta", fmt.Sprint(want), fmt.Sprint(c.tally))
}
