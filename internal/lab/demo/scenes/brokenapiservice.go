package scenes

import (
	"context"

	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

// attemptsShown is the number of failed passes before the APIService is deleted; the last delays
// are seconds long.
const attemptsShown = 11

var brokenAPIService = Scene{
	Name:    "broken-apiservice",
	Summary: "a namespace hangs in Terminating because an aggregated API does not answer",
	Happens: "An APIService announces metrics.k8s.io, and the service behind it does not exist. The controller empties the namespace but cannot finalize it: the broken API may hold objects that it cannot see.",
	Look:    "Watch the delay between failed passes: 5 ms, doubled each time. At the end the demo deletes the APIService; kubectl delete apiservice v1beta1.metrics.k8s.io in another terminal does it sooner.",
	Lesson: display.Lesson{
		Learnt: []string{
			"Unknown is not empty: while one group cannot be discovered, the controller deletes what it knows and does not finalize the namespace.",
			"The condition NamespaceDeletionDiscoveryFailure names the group. kubectl get apiservices shows which one is not Available, and why: False (ServiceNotFound).",
			"The queue's rate limiter retries a failed key after 5 ms, 10 ms, 20 ms, up to a minute; each key has its own delay.",
			"Delete an APIService that is no longer used instead of leaving it broken: kubectl delete apiservice ends the hang.",
		},
		Read: []display.Reading{
			{File: "restclient/discovery/discover.go", Why: "partial discovery: the groups that answered"},
			{File: "restclient/discovery/cached.go", Why: "why a deletion needs a fresh answer"},
			{File: "queue/ratelimiters.go", Why: "the delays between retries"},
			{File: "nsctl/errors.go", Why: "what the condition says"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		// The user may have deleted the APIService first.
		gone := func(s *story.State) bool { return s.Namespace.Phase == story.Gone }
		reportsFailure := reported("NamespaceDeletionDiscoveryFailure")
		return inOrder(
			func() error { on.Guide().Chapter("broken"); return on.BreakAPI(ctx) },
			func() error { return on.Fill(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error { return ask(ctx, on) },
			func() error { on.Guide().Chapter("deleted"); return nil },
			func() error { return on.DeleteNamespace(ctx) },
			func() error { return on.Await(ctx, on.Emptied) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error {
				return on.Await(ctx, func(s *story.State) bool { return reportsFailure(s) || gone(s) })
			},
			func() error { return on.ShowWhy(ctx) },
			func() error {
				return on.Await(ctx, func(s *story.State) bool { return len(s.Namespace.Conditions) <= 1 && s.Gears.Busy == 0 })
			},
			func() error { on.Guide().Reveal(); return nil },
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
