package demo

import (
	"context"

	"orrery/internal/lab/demo/story"
)

var deletion = Scene{
	Name: Default,
	play: script(
		chapter("fill", ""),
		toFinalizers(ask, chapter("deleted", "")),
		await(reported("NamespaceFinalizersRemaining")),
		pause(look),
		(*Stage).ReleaseFinalizers,
		gone,
		reveal,
	),
}

var finalizer = Scene{
	Name: "finalizer",
	play: func(on *Stage, ctx context.Context) error {
		passes := 0 // before those that find nothing new
		idle := func(s *story.State) bool { return s.Gears.Busy == 0 }
		return script(
			chapter("fill", ""),
			toFinalizers(ask, chapter("deleted", "")),
			await(reported("NamespaceFinalizersRemaining")),
			do(func(on *Stage) { passes = on.Teller.State().Gears.Passes }),
			(*Stage).ShowWhy,
			await(idle),
			reveal,
			await(func(s *story.State) bool { return s.Gears.Passes > passes && idle(s) }),
			pause(look),
			tell(story.Operator, "starts at last"),
			(*Stage).ReleaseFinalizers,
			gone,
		)(on, ctx)
	},
}

var stuck = Scene{
	Name: "stuck",
	play: script(
		(*Stage).Fill,
		pause(look),
		during("node-lost",
			(*Stage).DeleteNamespace,
			await(reported("NamespaceContentRemaining")),
			(*Stage).ShowWhy,
			tell(story.Demo, "the conditions name pods only; the crontabs wait behind them, and the controller has "+
				"not touched them yet"),
			pause(2*look),
		),
		tell(story.Demo, "the node is back"),
		emptied,
		await(reported("NamespaceFinalizersRemaining")),
		(*Stage).ShowWhy,
		pause(look),
		(*Stage).ReleaseFinalizers,
		gone,

		(*Stage).Fill,
		await(func(s *story.State) bool { return s.Total().Left == s.Total().Most }), // the spectators have seen it all
		pause(look),
		during("webhook-unreachable:webhook=deny.policy.io,verb=delete|deletecollection,resource=configmaps",
			(*Stage).DeleteNamespace,
			await(reported("NamespaceDeletionContentFailure")),
			(*Stage).ShowWhy,
			pause(2*look),
		),
		tell(story.Demo, "the webhook answers again"),
		emptied,
		(*Stage).ReleaseFinalizers,
		gone,
	),
}
