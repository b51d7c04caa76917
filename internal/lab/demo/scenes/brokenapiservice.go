package scenes

import (
	"context"

	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

// attemptsShown is how many passes fail before the APIService is deleted: the last waits are long enough to be felt.
const attemptsShown = 11

var brokenAPIService = Scene{
	Name:    "broken-apiservice",
	Summary: "a namespace hangs in Terminating, because an aggregated API does not answer",
	Happens: "An APIService announces metrics.k8s.io, and the service behind it does not exist. The namespace is emptied all the same, but it cannot go: nobody knows what the broken API may hold.",
	Look:    "Look at the waits between the passes that fail: 5 ms, doubled each time. Then the APIService is deleted; kubectl delete apiservice v1beta1.metrics.k8s.io in another terminal does it sooner.",
	Lesson: display.Lesson{
		Learnt: []string{
			"Not knowing is not the same as nothing: as long as one group cannot be discovered, the namespace is not finalized. What is known is deleted all the same.",
			"The condition NamespaceDeletionDiscoveryFailure names the group. kubectl get apiservices shows which one is not Available, and why: False (ServiceNotFound).",
			"A failure is retried by the rate limiter of the queue: 5 ms, 10 ms, 20 ms, up to a minute, for each key on its own.",
			"An APIService that nobody needs any more is deleted, not left broken: kubectl delete apiservice ends the hang.",
		},
		Read: []display.Reading{
			{File: "restclient/discovery/discover.go", Why: "what is found although something is missing"},
			{File: "restclient/discovery/cached.go", Why: "why an old answer is not good enough for deleting"},
			{File: "queue/ratelimiters.go", Why: "the waits"},
			{File: "nsctl/errors.go", Why: "what the condition says"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		gone := func(s *story.State) bool { return s.Namespace.Phase == story.Gone } // somebody was faster with kubectl
		reportsFailure := reported("NamespaceDeletionDiscoveryFailure")
		return inOrder(
			func() error { return on.BreakAPI(ctx) },
			func() error { return on.Fill(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error { return on.DeleteNamespace(ctx) },
			func() error { return on.Await(ctx, on.Emptied) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error {
				return on.Await(ctx, func(s *story.State) bool { return reportsFailure(s) || gone(s) })
			},
			func() error { return on.ShowWhy(ctx) },
			func() error { return on.ShowAPI(ctx) },
			func() error {
				return on.Await(ctx, func(s *story.State) bool { return s.Gears.Failures >= attemptsShown || gone(s) })
			},
			func() error { return wait.Sleep(ctx, look) },
			func() error { return on.DeleteAPI(ctx) },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}
