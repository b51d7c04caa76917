package scenes

import (
	"context"

	"orrery/controller/gears"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
)

var deletion = Scene{
	Name:    Default,
	Summary: "a full namespace is deleted, gear by gear",
	Happens: "A namespace is filled with objects of ten types and then deleted. A few custom resources have a finalizer: their operator must act before they go.",
	Look:    "Watch the order: pods first, then everything else, then the objects whose finalizer their operator removes, and the namespace last.",
	Lesson: display.Lesson{
		Learnt: []string{
			"DELETE only marks a namespace: deletionTimestamp and phase Terminating. It goes when spec.finalizers is empty, and the namespace controller empties it.",
			"An event passes through every gear once: watch event, delta, pop, store, handler, queue. The handler only puts the name into the queue; the worker reads the rest from the server.",
			"The first pass starts 5 s after the deletion, because other API servers may admit objects until then. The next one starts after half the estimate for the remaining content plus one second, but after no longer than the deletion has taken so far, and sooner if the namespace changes.",
			"Pods go first and alone, so that what they depend on, network policies above all, outlives them.",
		},
		Read: []display.Reading{
			{Gear: "nsctl", Form: gears.Textbook, File: "nsctl/deleter.go", Why: "one pass over a namespace, top to bottom"},
			{Gear: "nsctl", Form: gears.Fast, File: "nsctl/fast/pass.go", Why: "one pass over a namespace, several types in parallel"},
			{File: "nsctl/controller.go", Why: "handlers, workers, and when the next pass is due"},
			{File: "informer/shared_index_informer.go", Why: "from the watch to the handlers"},
		},
	},
	play: script(
		chapter("fill", ""),
		toFinalizers(ask, chapter("deleted", "")),
		await(reported("NamespaceFinalizersRemaining")),
		pause(look),
		(*stage.Stage).ReleaseFinalizers,
		(*stage.Stage).AwaitGone,
		reveal,
	),
}

var finalizer = Scene{
	Name:    "finalizer",
	Summary: "a namespace hangs in Terminating because no operator removes a finalizer",
	Happens: "A few custom resources have a finalizer, and their operator is not running. The namespace hangs in Terminating until it runs.",
	Look:    "Watch the conditions, which name what the namespace waits for, and the pauses between the passes.",
	Lesson: display.Lesson{
		Learnt: []string{
			"The conditions with status True say why a namespace hangs: kubectl get namespace NAME -o yaml.",
			"Waiting for a finalizer is not a failure, so there is no back-off: a second pass after 5 s, then one every 8 s (half of the estimated 15 s plus one second), sooner if the namespace changes.",
			"The controller writes its conditions only if they changed; otherwise its own update would wake it forever.",
			"The remedy is the operator that owns the finalizer. Removing \"kubernetes\" from spec.finalizers by hand removes the namespace and leaves its content behind, hidden.",
		},
		Read: []display.Reading{
			{File: "nsctl/conditions.go", Why: "the five conditions, and when they change"},
			{File: "nsctl/resources.go", Why: "what remains, and how long it may take"},
			{File: "nsctl/errors.go", Why: "which errors become a condition"},
		},
	},
	play: func(on *stage.Stage, ctx context.Context) error {
		passes := 0 // before those that find nothing new
		idle := func(s *story.State) bool { return s.Gears.Busy == 0 }
		return script(
			chapter("fill", ""),
			toFinalizers(ask, chapter("deleted", "")),
			await(reported("NamespaceFinalizersRemaining")),
			do(func(on *stage.Stage) { passes = on.Teller().State().Gears.Passes }),
			(*stage.Stage).ShowWhy,
			await(idle),
			reveal,
			await(func(s *story.State) bool { return s.Gears.Passes > passes && idle(s) }),
			pause(look),
			tell(story.Operator, "starts at last"),
			(*stage.Stage).ReleaseFinalizers,
			(*stage.Stage).AwaitGone,
		)(on, ctx)
	},
}

var emptiedFinalizers = Scene{
	Name:    "emptied-finalizers",
	Summary: "spec.finalizers is emptied by hand, and the content comes back",
	Happens: "The namespace hangs because the operator of a few custom resources is not running. A user empties spec.finalizers by hand, and later creates a namespace of the same name.",
	Look:    "Watch the lowest bar when the namespace has gone, and what the new namespace contains.",
	Lesson: display.Lesson{
		Learnt: []string{
			"Emptying spec.finalizers tells the server that the cleanup is complete. The server believes it and removes the namespace with the same request.",
			"The content stays in etcd under the name of a namespace that does not exist. No list of namespaces shows it, and its operator has cleaned up nothing.",
			"A namespace is its name: the next one of that name holds the old content from the start.",
			"The right way: find out which controller owns the finalizer, and let it finish.",
		},
		Read: []display.Reading{
			{File: "nsctl/finalizers_test.go", Why: "the same as a test"},
			{File: "nsctl/conditions.go", Why: "the conditions that say why a namespace hangs"},
			{File: "internal/lab/apiserver/registry/namespaces.go", Why: "when the server removes a namespace"},
		},
	},
	play: script(
		toFinalizers(),
		await(reported("NamespaceFinalizersRemaining")),
		(*stage.Stage).ShowWhy,
		pause(look),
		(*stage.Stage).EmptyFinalizers,
		(*stage.Stage).AwaitGone,
		do(func(on *stage.Stage) {
			state := on.Teller().State()
			crontabs, _ := state.TypeNamed("crontabs")
			on.Tell(story.Demo, "the namespace has gone, and %d crontabs have not", crontabs.Left)
		}),
		pause(2*look),
		(*stage.Stage).CreateNamespace,
		await(func(s *story.State) bool { return s.Namespace.Phase == "Active" }),
		(*stage.Stage).ShowContent,
		pause(look),
		await(func(s *story.State) bool { // the pass that was scheduled for the first namespace is done
			return s.Gears.Later == 0 && s.Gears.Ready == 0 && s.Gears.Busy == 0
		}),
		(*stage.Stage).DeleteNamespace,
		await(reported("NamespaceFinalizersRemaining")),
		tell(story.Demo, "and the new namespace hangs as the old one did"),
		pause(look),
		(*stage.Stage).ReleaseFinalizers,
		(*stage.Stage).AwaitGone,
	),
}

var stuck = Scene{
	Name:    "stuck",
	Summary: "two namespaces hang, and their conditions say what, but not why",
	Happens: "A namespace hangs because a node does not answer, and no condition names yet what waits behind its pods. The next one of its name hangs because a webhook cannot be reached.",
	Look:    "Watch the conditions, and say which of them you could verify with a request of your own.",
	Lesson: display.Lesson{
		Learnt: []string{
			"The controller deletes pods first. While one of them stays, the conditions name pods only, and everything else waits untouched.",
			"A condition is what the controller saw in its last pass. It repeats types, finalizers and error messages. It does not say what has to be repaired.",
			"A webhook with failurePolicy Fail that cannot be reached refuses every deletion that it is asked about. Deleting it, or failurePolicy Ignore, ends its protection everywhere; a namespaceSelector excludes one namespace.",
			"orrery why verifies each condition by requests of its own, and names what to repair with its proof.",
		},
		Read: []display.Reading{
			{File: "nsctl/conditions.go", Why: "the five conditions, and when they change"},
			{File: "internal/why/pods.go", Why: "what keeps a pod, with its proof"},
			{File: "internal/why/admission.go", Why: "which webhook or policy refuses, with its proof"},
			{File: "docs/operate/stuck-namespaces.md", Why: "thirty causes, each with what kubectl describe says of it"},
		},
	},
	play: script(
		(*stage.Stage).Fill,
		pause(look),
		during("node-lost",
			(*stage.Stage).DeleteNamespace,
			await(reported("NamespaceContentRemaining")),
			(*stage.Stage).ShowWhy,
			tell(story.Demo, "the conditions name pods only; the crontabs wait behind them, and the controller has "+
				"not touched them yet"),
			pause(2*look),
		),
		tell(story.Demo, "the node is back"),
		emptied,
		await(reported("NamespaceFinalizersRemaining")),
		(*stage.Stage).ShowWhy,
		pause(look),
		(*stage.Stage).ReleaseFinalizers,
		(*stage.Stage).AwaitGone,

		(*stage.Stage).Fill,
		await(func(s *story.State) bool { return s.Total().Left == s.Total().Most }), // the spectators have seen it all
		pause(look),
		during("webhook-unreachable:webhook=deny.policy.io,verb=delete|deletecollection,resource=configmaps",
			(*stage.Stage).DeleteNamespace,
			await(reported("NamespaceDeletionContentFailure")),
			(*stage.Stage).ShowWhy,
			pause(2*look),
		),
		tell(story.Demo, "the webhook answers again"),
		emptied,
		(*stage.Stage).ReleaseFinalizers,
		(*stage.Stage).AwaitGone,
	),
}
