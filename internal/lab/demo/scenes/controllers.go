package scenes

import (
	"context"
	"slices"
	"strings"

	"orrery/controller/gears"
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

var virtualMachine = Scene{
	Name:    "virtualmachine",
	Summary: "a second controller: machines outside of the cluster, held by a finalizer",
	Happens: "A controller of virtual machines joins. It creates a machine for each object, and deletes it before the object may go. Then it is stopped, and both its objects and the namespace have to wait.",
	Look:    "Watch the bar of servers outside, and the order: finalizer, server, Active; later deletionTimestamp, server, finalizer, gone.",
	Lesson: display.Lesson{
		Learnt: []string{
			"A finalizer makes a deletion wait: the object gets a deletionTimestamp, and that arrives at the controller as an update. It may be stopped meanwhile and misses nothing.",
			"The finalizer is written before the machine is created. A controller that dies in between leaves a finalizer, which the next one removes. In the opposite order it leaves a machine without a record.",
			"A namespace goes after its content. An object that waits for a finalizer holds it, and its conditions say which finalizer that is.",
			"The namespace controller and this one know nothing of each other. The objects are all that they share.",
		},
		Read: []display.Reading{
			{File: "docs/learn/write-your-own-controller.md", Why: "from an empty file to this controller"},
			{File: "examples/virtualmachine/controller.go", Why: "which step is next, and why the finalizer comes first"},
			{File: "examples/virtualmachine/killed_test.go", Why: "the controller is killed between every two calls"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		return inOrder(
			func() error { return on.DefineMachines(ctx) },
			func() error { return on.Fill(ctx) },
			func() error { return on.StartMachines() },
			func() error { return on.CreateMachine(ctx, "web") },
			func() error { return on.CreateMachine(ctx, "db") },
			func() error { return on.CreateMachine(ctx, "cache") },
			func() error { return on.AwaitMachines(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error { return on.DeleteMachine(ctx, "cache") },
			func() error { return on.AwaitMachines(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error { on.StopMachines(); return nil },
			func() error { return on.DeleteMachine(ctx, "db") },
			func() error { return on.ShowMachine(ctx, "db") },
			func() error { return wait.Sleep(ctx, look) },
			func() error { return on.DeleteNamespace(ctx) },
			func() error { return on.Await(ctx, on.Emptied) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.Await(ctx, reportedOrGone("NamespaceFinalizersRemaining")) },
			func() error { return on.ShowWhy(ctx) },
			func() error { return wait.Sleep(ctx, look) },
			func() error {
				on.Tell(story.Demo, "the controller of the machines is started again: it hears of both deletions from its first list")
				return on.StartMachines()
			},
			func() error { return on.AwaitMachines(ctx) },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}

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
