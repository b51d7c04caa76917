package demo

import (
	"context"

	"orrery/internal/lab/demo/story"
)

var virtualMachine = Scene{
	Name: "virtualmachine",
	play: script(
		(*Stage).DefineMachines,
		(*Stage).Fill,
		(*Stage).StartMachines,
		createMachine("web"), createMachine("db"), createMachine("cache"),
		(*Stage).AwaitMachines,
		pause(look),
		deleteMachine("cache"),
		(*Stage).AwaitMachines,
		pause(look),
		do((*Stage).StopMachines),
		deleteMachine("db"),
		func(on *Stage, ctx context.Context) error { return on.ShowMachine(ctx, "db") },
		pause(look),
		(*Stage).DeleteNamespace,
		emptied,
		(*Stage).ReleaseFinalizers,
		await(reported("NamespaceFinalizersRemaining")),
		(*Stage).ShowWhy,
		pause(look),
		tell(story.Demo, "the controller of the machines is started again: it hears of both deletions from its "+
			"first list"),
		(*Stage).StartMachines,
		(*Stage).AwaitMachines,
		(*Stage).AwaitGone,
	),
}

func createMachine(name string) step {
	return func(on *Stage, ctx context.Context) error { return on.CreateMachine(ctx, name) }
}

func deleteMachine(name string) step {
	return func(on *Stage, ctx context.Context) error { return on.DeleteMachine(ctx, name) }
}
