package scenes

import (
	"context"

	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

var virtualMachine = Scene{
	Name:    "virtualmachine",
	Summary: "a second controller: machines outside of the cluster, held by a finalizer",
	Happens: "A controller of virtual machines joins. It creates a machine for each object, and deletes it before the object may go. Then it is stopped, and both its objects and the namespace have to wait.",
	Look:    "Watch the bar of servers outside, and the order: finalizer, server, Active; later deletionTimestamp, server, finalizer, gone.",
	Lesson: display.Lesson{
		Learnt: []string{
			"A finalizer makes a deletion wait: the object gets a deletionTimestamp, and that arrives at the controller as an update. It may be stopped meanwhile and misses nothing.",
			"The finalizer is written before the machine is created. A controller that dies in between leaves a finalizer, which the next one removes. In the opposite order it leaves a machine without a record.",
			"A namespace goes after its content. An object that waits for a finalizer holds it, and its conditions say which finalizer that is.",
			"The namespace controller and this one know nothing of each other. The objects are all that they share.",
		},
		Read: []display.Reading{
			{File: "docs/learn/write-your-own-controller.md", Why: "from an empty file to this controller"},
			{File: "examples/virtualmachine/controller.go", Why: "which step is next, and why the finalizer comes first"},
			{File: "examples/virtualmachine/killed_test.go", Why: "the controller is killed between every two calls"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		return inOrder(
			func() error { return on.DefineMachines(ctx) },
			func() error { return on.Fill(ctx) },
			func() error { return on.StartMachines() },
			func() error { return on.CreateMachine(ctx, "web") },
			func() error { return on.CreateMachine(ctx, "db") },
			func() error { return on.CreateMachine(ctx, "cache") },
			func() error { return on.AwaitMachines(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error { return on.DeleteMachine(ctx, "cache") },
			func() error { return on.AwaitMachines(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error { on.StopMachines(); return nil },
			func() error { return on.DeleteMachine(ctx, "db") },
			func() error { return on.ShowMachine(ctx, "db") },
			func() error { return wait.Sleep(ctx, look) },
			func() error { return on.DeleteNamespace(ctx) },
			func() error { return on.Await(ctx, on.Emptied) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.Await(ctx, reportedOrGone("NamespaceFinalizersRemaining")) },
			func() error { return on.ShowWhy(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error {
				on.Tell(story.Demo, "the controller of the machines is started again: it hears of both deletions from its first list")
				return on.StartMachines()
			},
			func() error { return on.AwaitMachines(ctx) },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}
