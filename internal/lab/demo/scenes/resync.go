package scenes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/controller/gears"
	"orrery/deltafifo"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/restclient/api"
	"orrery/wait"
)

// resyncPeriod is the period of the auditor, the handler that is resynced.
const resyncPeriod = 10 * time.Second

var resync = Scene{
	Name:    "resync",
	Summary: "a wave from the store to the handlers, and no request to the server",
	Happens: "An informer has a handler with a resync period of ten seconds. When it is due, one key waits in the queue with a change.",
	Look:    "Watch the slots: each letter is a delta. S is Sync, which comes from the store. And watch the requests.",
	Options: stage.Options{Bare: true, Gated: true},
	Lesson: display.Lesson{
		Learnt: []string{
			"A resync queues a Sync delta for each object of the store. It sends no request, so it cannot find an event that was missed.",
			"A key that waits in the queue already gets no Sync: its own delta brings the handler there, and with a newer object.",
			"The handlers get OnUpdate with the same object twice. Only those whose period is over get it.",
		},
		Read: []display.Reading{
			{Gear: "deltafifo", Form: gears.Textbook, File: "deltafifo/fifo.go", Why: "Resync: which keys get a Sync"},
			{Gear: "deltafifo", Form: gears.Fast, File: "deltafifo/fast/fifo.go", Why: "Resync: which keys get a Sync"},
			{File: "informer/handlers.go", Why: "the period of each handler"},
			{File: "informer/handle_deltas.go", Why: "isSync: which handlers get it"},
		},
	},
	workers: 1,
	play:    playResync,
}

func playResync(ctx context.Context, on *stage.Stage) error {
	w := &wave{on: on, slots: map[string]string{}, synced: map[string]bool{}}
	names := []string{"blue", "green", "grey", "red"}
	requests, expected := 0, "blue, green, grey"
	ordered := on.Form("deltafifo") == gears.InOrder // there a resync is one item, which has its place behind red
	if ordered {
		expected += ", red"
	}
	return inOrder(
		func() error {
			return startPlain(ctx, on, stage.Plain{Workers: 1, Resync: resyncPeriod, QueueTrace: w.trace()}, names...)
		},
		func() error { return w.await(ctx, "an empty queue", func() bool { return w.popped >= len(names) }) },
		func() error {
			chapter(on, "start", "an informer has listed four configmaps and watches them")
			return wait.Sleep(ctx, look)
		},
		func() error {
			chapter(on, "held", gate.HeldKey+" changes and is held at the gate G2, before its Pop")
			on.Gates().Close(gate.G2, only(gate.HeldKey))
			return labelled(ctx, on, gate.HeldKey, 1)
		},
		func() error {
			return w.await(ctx, "a change of red", func() bool { return w.slots["red"] != "" || w.popped > len(names) })
		},
		func() error { return ask(ctx, on) },
		func() error {
			chapter(on, "due", fmt.Sprintf("another handler is added, with a resync period of %v", resyncPeriod))
			requests = w.requests()
			return on.AddHandler("auditor", resyncPeriod)
		},
		func() error {
			if ordered {
				return wait.Sleep(ctx, resyncPeriod)
			}
			return w.await(ctx, "a Sync for the other keys", func() bool { return len(w.synced) >= len(names)-1 })
		},
		func() error { return wait.Sleep(ctx, 2*look) },
		func() error {
			chapter(on, "wave", "G2 is open: the queue is popped, and the auditor gets OnUpdate for objects that have not changed")
			on.Gates().Open(gate.G2)
			return w.await(ctx, "an empty queue", func() bool { return len(w.slots) == 0 && len(w.synced) >= len(names)-1 })
		},
		func() error { return wait.Sleep(ctx, look) },
		func() error {
			requests = w.requests() - requests
			synced := ""
			on.Teller().Update(func(s *story.State) {
				synced = strings.Join(slices.Sorted(maps.Keys(w.synced)), ", ")
				s.Figure("keys with a Sync", "%s", synced)
				s.Figure("requests meanwhile", "%d", requests)
			})
			if on.Guide() != nil { // who may have opened the gate
				on.Guide().Reveal()
				return nil
			}
			return cmp.Or(
				bench.Prove("keys with a Sync", expected, synced), bench.Prove("requests during the resync", 0, requests),
			)
		},
	)
}

// wave follows the queue of the informer.
type wave struct {
	on *stage.Stage

	// Guarded by the teller's lock.
	slots  map[string]string // the waiting deltas, by name
	synced map[string]bool   // the names that have had a Sync
	popped int
}

func (w *wave) trace() *deltafifo.Trace[*api.PartialObjectMetadata] {
	return &deltafifo.Trace[*api.PartialObjectMetadata]{
		Queued: func(key string, d deltafifo.Delta[*api.PartialObjectMetadata], _ int) {
			name := nameOf(key)
			w.on.Teller().Update(func(s *story.State) {
				w.slots[name] = strings.TrimSpace(w.slots[name] + " " + string(d.Type[0]))
				if d.Type == deltafifo.Sync {
					w.synced[name] = true
					s.Tell(story.FIFO, "%s: Sync, from the store", name)
				}
				w.show(s, name)
			})
		},
		Popped: func(key string, d deltafifo.Deltas[*api.PartialObjectMetadata], _ bool, _ int) {
			name := nameOf(key)
			w.on.Teller().Update(func(s *story.State) {
				w.popped++
				if d[0].Type == deltafifo.Sync { // the queue in order has no hook for one that is queued
					w.synced[name] = true
				}
				delete(w.slots, name)
				s.Tell(story.FIFO, "Pop hands out %s: %s", name, letters(d.Types()))
				w.show(s, name)
			})
		},
	}
}

func (w *wave) show(s *story.State, name string) { s.Show(name, "%s", cmp.Or(w.slots[name], "free")) }

// await waits for a condition on the fields above.
func (w *wave) await(ctx context.Context, what string, holds func() bool) error {
	return soon(ctx, w.on.Teller(), what, func(*story.State) bool { return holds() })
}

// requests returns how many requests the informer has sent.
func (w *wave) requests() int {
	n := 0
	for _, of := range w.on.Teller().State().Requests[story.Spectators] {
		n += of
	}
	return n
}
