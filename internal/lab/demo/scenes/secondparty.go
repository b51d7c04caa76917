package scenes

import (
	"context"
	"slices"

	"orrery/internal/gears"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/restclient/api"
	"orrery/wait"
)

var secondParty = Scene{
	Name:    "second-party",
	Summary: "two controllers hold a namespace, each with its own token in spec.finalizers",
	Happens: "A second controller stores builds of the namespace outside the API server, as OpenShift does in the design document. Its storage is locked when the namespace is deleted, so the first controller finishes before it.",
	Look:    "Watch spec.finalizers beside the phase: two tokens, one, none.",
	Lesson: display.Lesson{
		Learnt: []string{
			"spec.finalizers is a list so that several controllers can hold a namespace. Each deletes its own content and removes its own token; the namespace goes with the last token.",
			"The order does not matter. A controller that fails holds the namespace without delaying the others; the one that has finished looks again only at its resync.",
			"Phase and conditions belong to the first controller. If both wrote them, each update would cause a pass of the other, without end.",
			"The design's last state, an empty list, is never stored: it is the response to the request that removes the last token.",
		},
		Read: []display.Reading{
			{File: "examples/secondparty/party.go", Why: "the second controller: the same deleter with another configuration"},
			{File: "examples/secondparty/storage.go", Why: "a content client without an API server"},
			{Gear: "nsctl", Form: gears.Textbook, File: "nsctl/deleter.go", Why: "finalizeNamespace removes only its own token"},
			{Gear: "nsctl", Form: gears.Fast, File: "nsctl/fast/deleter.go", Why: "withoutToken removes only its own token"},
			{File: "nsctl/nsctltest/parties.go", Why: "the four states of the design, as a test"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		firstIsDone := func(s *story.State) bool {
			return !slices.Contains(s.Namespace.Finalizers, api.FinalizerKubernetes) && s.Gears.Busy == 0
		}
		return inOrder(
			func() error { return on.StartSecondParty() },
			func() error { return on.Fill(ctx) },
			func() error { return on.FillSecondParty(ctx) },
			func() error { return on.ShowNamespace(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error { on.LockSecondParty(); return on.DeleteNamespace(ctx) },
			func() error { return on.ShowNamespace(ctx) },
			func() error { return on.Await(ctx, on.Emptied) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.Await(ctx, firstIsDone) },
			func() error { return on.ShowNamespace(ctx) },
			func() error { return wait.Sleep(ctx, 2*look) },
			func() error { on.UnlockSecondParty(); return nil },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}
