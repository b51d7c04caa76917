package scenes

import (
	"context"

	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
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
	play: script(
		(*stage.Stage).DefineMachines,
		(*stage.Stage).Fill,
		(*stage.Stage).StartMachines,
		createMachine("web"), createMachine("db"), createMachine("cache"),
		(*stage.Stage).AwaitMachines,
		pause(look),
		deleteMachine("cache"),
		(*stage.Stage).AwaitMachines,
		pause(look),
		do((*stage.Stage).StopMachines),
		deleteMachine("db"),
		func(on *stage.Stage, ctx context.Context) error { return on.ShowMachine(ctx, "db") },
		pause(look),
		(*stage.Stage).DeleteNamespace,
		emptied,
		(*stage.Stage).ReleaseFinalizers,
		await(reported("NamespaceFinalizersRemaining")),
		(*stage.Stage).ShowWhy,
		pause(look),
		tell(story.Demo, "the controller of the machines is started again: it hears of both deletions from its "+
			"first list"),
		(*stage.Stage).StartMachines,
		(*stage.Stage).AwaitMachines,
		(*stage.Stage).AwaitGone,
	),
}

func createMachine(name string) step {
	return func(on *stage.Stage, ctx context.Context) error { return on.CreateMachine(ctx, name) }
}

func deleteMachine(name string) step {
	return func(on *stage.Stage, ctx context.Context) error { return on.DeleteMachine(ctx, name) }
}
