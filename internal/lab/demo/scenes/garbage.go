package scenes

import (
	"context"

	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/restclient/api"
	"orrery/wait"
)

var garbage = Scene{
	Name:    "garbage",
	Summary: "three ways to delete an owner: background, foreground, orphan",
	Happens: "Three objects own two others each. They are deleted with kubectl's three values of --cascade, and the garbage collector does the rest.",
	Look:    "Watch which goes first, the owner or its dependents, and the finalizers that the owner has meanwhile.",
	Lesson: display.Lesson{
		Learnt: []string{
			"The API server itself does not follow owner references. With background it deletes the owner at once, and the garbage collector deletes the dependents whose owner is gone.",
			"With foreground the owner gets the finalizer foregroundDeletion and waits for its dependents. With orphan it gets the finalizer orphan and waits until their references to it are removed.",
			"Before it deletes an object, the collector asks the server for each owner by name and UID. An object that is missing from a cache may still exist.",
			"The namespace controller does not follow owners: it deletes everything in the namespace, orphans included.",
		},
		Read: []display.Reading{
			{File: "docs/learn/garbage-collection.md", Why: "owner references, the three propagation policies, and why the collector asks the server"},
			{File: "examples/garbagecollector/graph.go", Why: "the graph of owners and dependents"},
			{File: "examples/garbagecollector/delete.go", Why: "the decision about one object"},
			{File: "examples/garbagecollector/killed_test.go", Why: "the collector is killed before every request"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		return inOrder(
			func() error { return toFinalizers(ctx, on, func() error { return collect(ctx, on) }) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}

// collect is what happens to the three families before the namespace is deleted.
func collect(ctx context.Context, on *stage.Stage) error {
	for _, way := range []struct {
		owner  string
		policy api.DeletePropagation
		moral  string
	}{
		{"blue", api.DeletePropagationBackground, "background: the owner goes first, its dependents are collected afterwards"},
		{"green", api.DeletePropagationForeground, "foreground: the owner waits for its dependents, held by the finalizer foregroundDeletion"},
		{"red", api.DeletePropagationOrphan, "orphan: the dependents forget the owner and stay"},
	} {
		err := inOrder(
			func() error { return on.CreateFamily(ctx, way.owner) },
			func() error { return wait.Sleep(ctx, look) },
			func() error { return on.DeleteFamily(ctx, way.owner, way.policy) },
			func() error { on.Tell(story.Demo, "%s", way.moral); return wait.Sleep(ctx, look) },
		)
		if err != nil {
			return err
		}
	}
	return nil
}
