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
	Summary: "two parties hold a namespace, each with its own token in spec.finalizers",
	Happens: "A second controller keeps builds of the namespace in a storage of its own, as OpenShift does in the design document. Its storage is locked when the namespace is deleted, so that the first controller finishes before it.",
	Look:    "Look at spec.finalizers beside the phase: two tokens, one, none.",
	Lesson: display.Lesson{
		Learnt: []string{
			"spec.finalizers is a list so that several parties can hold a namespace. Each deletes what it knows, and takes off its own token; the namespace goes with the last one.",
			"The order does not matter. A party that fails holds the namespace and delays nobody else; the first one looks again only with its resync.",
			"Phase and conditions belong to the first party. If both wrote them, each report would call for a pass of the other, without end.",
			"The design's last state, an empty list, is not stored any more: it is the answer to the request that takes off the last token.",
		},
		Read: []display.Reading{
			{File: "examples/secondparty/party.go", Why: "the second party: the same deleter, another configuration"},
			{File: "examples/secondparty/storage.go", Why: "a content client that is no API server"},
			{Gear: "nsctl", Form: gears.Textbook, File: "nsctl/deleter.go", Why: "finalizeNamespace: only its own token"},
			{Gear: "nsctl", Form: gears.Fast, File: "nsctl/fast/deleter.go", Why: "withoutToken: only its own token"},
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
