package scenes

import (
	"context"
	"slices"
	"strings"

	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

var rollout = Scene{
	Name:    "rollout",
	Summary: "a deployment is scaled while the cache is stale, then rolled out",
	Happens: "Two more controllers run on the same gears, for deployments and replica sets. The watch of pods is delayed while a deployment is scaled up; then the deployment gets another image.",
	Look:    "Watch the pass that creates nothing although its store lacks pods, and the two replica sets during the rollout.",
	Lesson: display.Lesson{
		Learnt: []string{
			"A cache is always behind. A controller that creates the pods that are missing from its cache creates them twice.",
			"So it records the creations and deletions that it has requested, its expectations, and waits until the watch has delivered them all.",
			"A rollout is two numbers: the new set grows and the old one shrinks, within maxSurge and maxUnavailable. No step is stored, so another controller can continue it.",
			"A deployment needs no expectations: the name of a replica set contains the hash of its template, so creating it twice fails.",
		},
		Read: []display.Reading{
			{File: "examples/replicaset/expectations.go", Why: "what is recorded, and until when"},
			{File: "examples/replicaset/manage.go", Why: "how pods are created and deleted"},
			{File: "examples/deployment/rolling.go", Why: "the two bounds"},
			{File: "docs/learn/replicasets-and-deployments.md", Why: "a version without expectations, and what it does"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		return inOrder(
			func() error { return toFinalizers(ctx, on, func() error { return rollOut(ctx, on) }) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}

// rollOut is what happens to the deployment before the namespace is deleted.
func rollOut(ctx context.Context, on *stage.Stage) error {
	workloads, err := on.AddWorkloads(ctx)
	if err != nil {
		return err
	}
	const few, many = 2, 5
	late := ""
	return inOrder(
		func() error { return workloads.Deploy(ctx, few) },
		func() error { return workloads.RolledOut(ctx) },
		func() (err error) {
			late, err = on.Fault("hold-events:resource=pods,user=" + stage.ControllerUser)
			return err
		},
		func() error { return workloads.Scale(ctx, many) },
		func() error { return on.Await(ctx, waits) },
		func() error {
			on.Tell(story.Demo, "the store has %d pods, the server has %d; without expectations, the second pass would have created %d more", few, many, many-few)
			return wait.Sleep(ctx, look)
		},
		func() error { on.Repair(late); return workloads.RolledOut(ctx) },
		func() error { return wait.Sleep(ctx, look) },
		func() error { return workloads.SetImage(ctx, "shop/front:2") },
		func() error { return workloads.RolledOut(ctx) },
	)
}

// waits reports whether a pass after the last scaling has waited for its expectations.
func waits(s *story.State) bool {
	for _, beat := range slices.Backward(s.Beats) {
		switch {
		case beat.Who == story.Worker && strings.Contains(beat.Text, "expectations are open"):
			return true
		case beat.Who == story.You && strings.Contains(beat.Text, "scale deployment"):
			return false
		}
	}
	return false
}
