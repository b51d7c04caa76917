package scenes

import (
	"context"

	"orrery/internal/gears"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

// deletedUnseen is how many objects vanish while nobody watches, if there are as many.
const deletedUnseen = 20

var expiredWatch = Scene{
	Name:    "expired-watch",
	Summary: "all watches break, history is forgotten, and nothing is lost",
	Happens: "All watches break. Before they are back, some configmaps and the namespace itself are deleted, and the server forgets its history: nobody can be told what happened.",
	Look:    "Look at the 410 that every reflector gets, and at the tombstones: what is missing in the new list must have been deleted.",
	Options: stage.Options{Told: map[string]bool{"configmaps": true}},
	Lesson: display.Lesson{
		Learnt: []string{
			"A watch that ends is resumed from the last version seen. If the server still has the history, nothing is missed and nobody notices.",
			"If not, it says 410 Expired, and there is one way back: list everything. Replace compares the list with the store, and a deletion that nobody saw becomes a tombstone, DeletedFinalStateUnknown.",
			"Handlers that only take keys need not care: the deletion of the namespace came as an entry of a list, not as an event, and was worked off all the same. That is what level-triggered means.",
		},
		Read: []display.Reading{
			{Gear: "reflector", Form: gears.Textbook, File: "informer/reflector/reflector.go", Why: "ListAndWatch: what a reflector does after a 410"},
			{Gear: "reflector", Form: gears.Fast, File: "informer/reflector/machine/table.go", Why: "what a reflector does after which failure, as a table"},
			{Gear: "reflector", Form: gears.Fast, File: "informer/reflector/machine/TRANSITIONS.md", Why: "the same as a picture"},
			{Gear: "deltafifo", Form: gears.Textbook, File: "deltafifo/fifo.go", Why: "how a list becomes deltas and tombstones"},
			{Gear: "deltafifo", Form: gears.Fast, File: "deltafifo/fast/replace.go", Why: "how a list becomes deltas and tombstones"},
			{Gear: "deltafifo", Form: gears.InOrder, File: "deltafifo/inorder/fifo.go", Why: "how a list becomes deltas and tombstones"},
			{File: "informer/handle_deltas.go", Why: "the store decides what is news"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		var obstacle string
		watches, vanished := 0, 0
		return inOrder(
			func() error { return on.Fill(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() (err error) {
				on.Tell(story.Demo, "the way to the server is blocked for new watches of the controller and the spectators, and those that are open are cut")
				on.Enter("nobody watches", "all watches are cut, and new ones do not get through: what happens now is seen by nobody")
				watches = on.Teller().State().Gears.WatchesEnded
				obstacle, err = on.Fault("delay:by=1m,verb=watch,user=" + stage.ControllerUser + "|" + stage.SpectatorsUser)
				return err
			},
			func() error { _, err := on.Fault("cut-watches"); return err },
			func() error {
				return on.Await(ctx, func(s *story.State) bool { return s.Gears.WatchesEnded >= watches+len(s.Types)+1 })
			},
			func() (err error) {
				vanished, err = on.DeleteSome(ctx, "configmaps", deletedUnseen)
				return err
			},
			func() error { return on.DeleteNamespace(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error { _, err := on.Fault("compact"); return err },
			func() error { return wait.Sleep(ctx, look) },
			func() error {
				on.Tell(story.Demo, "the way is free again: the watches that were asked for get through, from a version that has been forgotten")
				on.Enter("catching up", "410 Expired: the reflectors back off for a moment, each for another time, and then list everything anew")
				on.Repair(obstacle)
				return nil
			},
			func() error {
				return on.Await(ctx, func(s *story.State) bool { return s.Gears.Tombstones >= vanished })
			},
			func() error { return on.Await(ctx, on.Emptied) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}
