package scenes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/controller/gears"
	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

var slowConsumer = Scene{
	Name:    "slow-consumer",
	Summary: "seven events for one Pop: slots are keys, letters are deltas",
	Happens: "An informer's queue has a slow consumer. Seven events of one object arrive before its next Pop, then a deletion, and then a list that lacks two objects.",
	Look:    "Watch the slots: each is a key that waits, each letter a delta of that key. R is Replaced, U is Updated, D is Deleted.",
	Lesson: display.Lesson{
		Learnt: []string{
			"A DeltaFIFO compresses nothing but places: a key has one slot, and one Pop hands out all of its deltas. So an object that changes often does not delay the others.",
			"Only the second of two adjacent deletions is dropped. All updates are kept, because a handler may need each step.",
			"An object that the store has and a list lacks was deleted while no watch reported it. Replace queues a tombstone for it.",
			"The queue in order (--gears deltafifo=inorder) has a place for each event: a hot object takes as many turns as it has events. In return, the store always equals one version of the server.",
		},
		Read: []display.Reading{
			{Gear: "deltafifo", Form: gears.Textbook, File: "deltafifo/fifo.go", Why: "queueActionLocked, Replace and Pop on one page"},
			{Gear: "deltafifo", Form: gears.Fast, File: "deltafifo/fast/fifo.go", Why: "the lock is free while a process function runs"},
			{Gear: "deltafifo", Form: gears.InOrder, File: "deltafifo/inorder/fifo.go", Why: "every event has its own place"},
			{File: "deltafifo/delta.go", Why: "dedupDeltas: which delta is dropped"},
			{File: "deltafifo/inorder/doc.go", Why: "why informers upstream changed to a queue in order"},
			{File: "workshop/labs/04-deltafifo/README.md", Why: "the lab in which you write this queue"},
		},
	},
	workers: 1,
	guided: guided{
		happens: "An informer of configmaps has a slow consumer. Red is updated five times and deleted before its next Pop, and then a list lacks it.",
		look:    "Watch the slot of red: each letter is a delta. U is Updated, D is Deleted, and † is a deletion that no watch reported.",
		play:    guidedSlowConsumer,
	},
	alone: func(ctx context.Context, teller *story.Teller, set *Gears) error {
		q := newSlots(teller, set)
		defer context.AfterFunc(ctx, q.fifo.Close)() // a Pop that waits ends with the scene
		q.teller.Tell(story.Demo, "slow motion: the events arrive every %v, and the consumer calls Pop as rarely as the script says", step)
		pops, largest, dropped := 2, 7, 1
		if set.Form("deltafifo") == gears.InOrder {
			pops, largest, dropped = 8, 1, 0
		}
		return inOrder(
			func() error {
				return q.listed(ctx, "the first list", &revision{"red", 1}, &revision{"green", 1}, &revision{"blue", 1})
			},
			func() error { return q.drain(ctx) },
			func() error { return q.burst(ctx) },
			func() error { return q.drain(ctx) },
			func() error {
				teller.Update(func(s *story.State) {
					s.Figure("8 events of 2 keys", "%s; at most %s in one", counted(q.pops, "pop", "pops"), counted(q.largest, "delta", "deltas"))
				})
				return cmp.Or(bench.Prove("pops of the burst", pops, q.pops), bench.Prove("deltas in one pop", largest, q.largest))
			},
			func() error {
				enter(q.teller, "a deletion, and then a list without it", "a watch reports the deletion of blue; then the watch breaks, and the new list has only red")
				return q.shown(ctx, q.fifo.Delete(&revision{"blue", 1}))
			},
			func() error { return q.listed(ctx, "a deletion, and then a list without it", &revision{"red", 8}) },
			func() error { return q.drain(ctx) },
			func() error {
				left := slices.Sorted(slices.Values(q.store.ListKeys()))
				teller.Update(func(s *story.State) {
					s.Figure("deletions", "%d popped: %d reported by a watch, %d inferred from the list; %d dropped as the second of a key",
						q.deletions, q.deletions-q.tombstones, q.tombstones, q.dropped)
					s.Figure("left in the store", "%s", strings.Join(left, ", "))
				})
				return cmp.Or(
					bench.Prove("deletions that were popped", 2, q.deletions), bench.Prove("tombstones among them", 1, q.tombstones),
					bench.Prove("deletions that were dropped", dropped, q.dropped), bench.Prove("keys left in the store", "red", strings.Join(left, ", ")),
				)
			},
		)
	},
}

// revision is an object of the queue: a name and a version.
type revision struct {
	name    string
	version int
}

// slots is a queue with the store of its consumer. One goroutine produces and consumes, so that the
// consumer is late by exactly what the script says.
type slots struct {
	teller *story.Teller
	fifo   informer.Queue[*revision]
	store  informer.Indexer[*revision]
	most   int // the most slots shown
	// listing reports that Replace runs.
	listing bool

	// Counted by the hooks and by apply; the first two start again with each burst.
	pops, largest                  int
	deletions, tombstones, dropped int
}

func newSlots(teller *story.Teller, set *Gears) *slots {
	q := &slots{teller: teller}
	key := func(r *revision) (string, error) { return r.name, nil }
	q.store = indexer.New(indexer.Config[*revision]{KeyFunc: key})
	if newStore := gears.Informer[*revision](set.Set).NewStore; newStore != nil {
		q.store = newStore(indexer.Config[*revision]{KeyFunc: key})
	}
	config := deltafifo.Config[*revision]{KeyFunc: key, KnownObjects: q.store, Trace: q.trace()}
	q.fifo = newFIFO(set, config)
	return q
}

func (q *slots) trace() *deltafifo.Trace[*revision] {
	return &deltafifo.Trace[*revision]{
		Queued: func(key string, d deltafifo.Delta[*revision], depth int) {
			if q.listing { // Replace reports its deltas when all of them are queued
				q.teller.Tell(story.FIFO, "%s: %s", key, d.Type)
				return
			}
			q.teller.Tell(story.FIFO, "%s: %s; %s taken", key, d.Type, counted(depth, "slot is", "slots are"))
		},
		Replaced: func(_ string, items, tombstones, _ int) {
			q.teller.Tell(story.FIFO, "Replace: a list of %s, %s", counted(items, "object", "objects"), counted(tombstones, "tombstone", "tombstones"))
		},
		Deduplicated: func(key string, _, _ deltafifo.Delta[*revision]) {
			q.dropped++
			q.teller.Tell(story.FIFO, "%s: two deletions in a row say no more than one; the second is dropped", key)
		},
		Popped: func(key string, d deltafifo.Deltas[*revision], _ bool, _ int) {
			q.pops++
			q.largest = max(q.largest, len(d))
			q.teller.Tell(story.FIFO, "Pop hands out %s with %s: %s", key, counted(len(d), "delta", "deltas"), letters(d.Types()))
		},
	}
}

// apply is the consumer: it does to the store what the deltas say.
func (q *slots) apply(key string, deltas deltafifo.Deltas[*revision], _ bool) error {
	for _, d := range deltas {
		if d.Type != deltafifo.Deleted {
			if _, _, err := q.store.Put(key, d.Object); err != nil {
				return err
			}
			continue
		}
		q.store.DeleteKey(key)
		q.deletions++
		if d.Tombstone != nil {
			q.tombstones++
		}
	}
	return nil
}

// burst is what arrives before the consumer's next Pop.
func (q *slots) burst(ctx context.Context) error {
	enter(q.teller, "seven events of one object", "the consumer is late: red changes seven times and green once before its next Pop")
	q.pops, q.largest = 0, 0
	for version := 2; version <= 8; version++ {
		if err := q.shown(ctx, q.fifo.Update(&revision{"red", version})); err != nil {
			return err
		}
		if version == 4 {
			if err := q.shown(ctx, q.fifo.Update(&revision{"green", 2})); err != nil {
				return err
			}
		}
	}
	return wait.Sleep(ctx, look)
}

func (q *slots) listed(ctx context.Context, stage string, items ...*revision) error {
	enter(q.teller, stage, fmt.Sprintf("a list of %s arrives", counted(len(items), "object", "objects")))
	return inOrder(
		func() error {
			q.listing = true
			err := q.fifo.Replace(items, fmt.Sprint(items[0].version))
			q.listing = false
			return q.shown(ctx, err)
		},
		func() error { return wait.Sleep(ctx, look) },
	)
}

// drain pops until nothing waits.
func (q *slots) drain(ctx context.Context) error {
	for len(q.waiting()) > 0 {
		if _, err := q.fifo.Pop(q.apply); err != nil {
			return err
		}
		if err := q.shown(ctx, nil); err != nil {
			return err
		}
	}
	return wait.Sleep(ctx, look)
}

// waiting returns the slots.
func (q *slots) waiting() []deltafifo.KeySnapshot {
	return q.fifo.(interface{ Snapshot() deltafifo.Snapshot }).Snapshot().Waiting
}

// step is the time between two events or two pops.
const step = 350 * time.Millisecond

// shown shows the slots after a step that ended with err.
func (q *slots) shown(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	waiting := q.waiting()
	q.most = max(q.most, len(waiting))
	q.teller.Update(func(state *story.State) {
		for i := range q.most {
			text := "free"
			if i < len(waiting) {
				text = waiting[i].Key + " " + letters(waiting[i].Types)
			}
			state.Show(fmt.Sprintf("slot %d", i+1), "%s", text)
		}
	})
	return wait.Sleep(ctx, step)
}

// letters writes types of deltas.
func letters(types []deltafifo.DeltaType) string {
	var b strings.Builder
	for _, t := range types {
		b.WriteString(" " + string(t[0]))
	}
	return strings.TrimSpace(b.String())
}

// counted returns n with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
