package demo

import (
	"context"

	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
)

var virtualMachine = Scene{
	Name: "virtualmachine",
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
