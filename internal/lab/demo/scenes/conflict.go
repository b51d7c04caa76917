package scenes

import (
	"context"

	"orrery/internal/gears"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
)

var conflict = Scene{
	Name:    "conflict",
	Summary: "another client keeps changing the namespace: 409, read again, repeat",
	Happens: "Another client changes the namespace just before the controller writes it: twice before a status update, and twice before finalize.",
	Look:    "Watch for 409 Conflict. No pass fails because of it, and no write of the other client is lost.",
	Lesson: display.Lesson{
		Learnt: []string{
			"An update carries the resourceVersion that it was made from. If the object has changed since, the server answers 409 and overwrites nothing.",
			"After a 409 a client reads the object again, checks that its change still makes sense, and applies it to the new state. Sending the old object with the new version would undo the other client's work.",
			"The controller also compares the UID: the name may now belong to a new namespace, which it must not finalize.",
		},
		Read: []display.Reading{
			{Gear: "nsctl", Form: gears.Textbook, File: "nsctl/deleter.go", Why: "retryOnConflictError: read again, compare the UID, repeat"},
			{Gear: "nsctl", Form: gears.Fast, File: "nsctl/fast/deleter.go", Why: "retryOnConflict: read again, compare the UID, repeat"},
			{File: "restclient/api/statuserror.go", Why: "how to recognise a conflict"},
			{File: "internal/lab/apiserver/store/store.go", Why: "the other side: compare and swap"},
		},
	},
	play: func(ctx context.Context, on *stage.Stage) error {
		return inOrder(
			func() error {
				_, err := on.Fault("conflict:count=2,resource=namespaces/status,user=" + stage.ControllerUser)
				return err
			},
			func() error {
				_, err := on.Fault("conflict:count=2,resource=namespaces/finalize,user=" + stage.ControllerUser)
				return err
			},
			func() error { return toFinalizers(ctx, on) },
			func() error { return on.Await(ctx, reported("NamespaceFinalizersRemaining")) },
			func() error { return on.ReleaseFinalizers(ctx) },
			func() error { return on.AwaitGone(ctx) },
		)
	},
}
