package scenes

import (
	"context"

	"orrery/internal/gears"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

// deletedUnseen is how many objects are deleted at most while no watch is open.
const deletedUnseen = 20

var expiredWatch = Scene{
	Name:    "expired-watch",
	Summary: "all watches break, the server forgets its history, and nothing is lost",
	Happens: "All watches break. Before they are back, some configmaps and the namespace itself are deleted, and the server compacts its history: no watch can report these deletions.",
	Look:    "Watch the 410 that every reflector gets, and the tombstones: an object that is missing from the new list must have been deleted.",
	Options: stage.Options{Reported: map[string]bool{"configmaps": true}},
	Lesson: display.Lesson{
		Learnt: []string{
			"A reflector resumes a broken watch from the last resourceVersion that it saw. If the server still has the history, no event is missed.",
			"If not, the server answers 410 Expired, and the reflector lists everything again. Replace compares the list with the store and adds a tombstone, DeletedFinalStateUnknown, for each missing object.",
			"Handlers that only enqueue keys do not notice: the deletion of the namespace arrived in a list, not as an event, and was processed all the same. That is what level-triggered means.",
		},
		Read: []display.Reading{
			{Gear: "reflector", Form: gears.Textbook, File: "informer/reflector/reflector.go", Why: "ListAndWatch: what a reflector does after a 410"},
			{Gear: "reflector", Form: gears.Fast, File: "informer/reflector/machine/table.go", Why: "the recovery from each failure, as a table"},
			{Gear: "reflector", Form: gears.Fast, File: "informer/reflector/machine/TRANSITIONS.md", Why: "the same as a diagram"},
			{Gear: "deltafifo", Form: gears.Textbook, File: "deltafifo/fifo.go", Why: "how a list becomes deltas and tombstones"},
			{Gear: "deltafifo", Form: gears.Fast, File: "deltafifo/fast/replace.go", Why: "how a list becomes deltas and tombstones"},
			{Gear: "deltafifo", Form: gears.InOrder, File: "deltafifo/inorder/fifo.go", Why: "how a list becomes deltas and tombstones"},
			{File: "informer/handle_deltas.go", Why: "the store decides between OnAdd and OnUpdate"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		var obstacle string
		watches, vanished := 0, 0
		return inOrder(
			func() error { on.Guide().Chapter("fill"); return on.Fill(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() (err error) {
				on.Tell(story.Demo, "the server cuts all watches of the controller and the spectators, and delays new ones")
				on.Guide().Chapter("blind")
				on.Enter("no watch is open", "all watches are cut and new ones do not get through: no informer sees what happens now")
				watches = on.Teller().State().Gears.WatchesEnded
				obstacle, err = on.Fault("delay:by=1h,verb=watch,user=" + stage.ControllerUser + "|" + stage.SpectatorsUser)
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
			func() error { return ask(ctx, on) },
			func() error {
				on.Guide().Chapter("again")
				on.Tell(story.Demo, "the server accepts watches again; they ask for a resourceVersion that has been compacted")
				on.Enter("catching up", "410 Expired: the reflectors back off for a moment, each for another time, and then list everything anew")
				on.Repair(obstacle)
				return nil
			},
			func() error {
				return on.Await(ctx, func(s *story.State) bool { return s.Gears.Tombstones >= vanished })
			},
			func() error { on.Guide().Reveal(); return nil },
			func() error { return on.Await(ctx, on.Emptied) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}
