package scenes

import (
	"context"

	"orrery/internal/gears"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/stage"
)

var conflict = Scene{
	Name:    "conflict",
	Summary: "somebody else keeps changing the namespace: 409, read again, repeat",
	Happens: "Whenever the controller writes to the namespace, somebody else was faster: twice when it reports in the status, and twice when it finalizes.",
	Look:    "Look for 409 Conflict. No pass fails because of it, and nothing of what the others wrote is lost.",
	Lesson: display.Lesson{
		Learnt: []string{
			"An update carries the resourceVersion of what it was made from. If the object has changed since, the server says 409, and nothing is overwritten.",
			"Who is told 409 reads the object again, looks whether the change still makes sense, and makes it on the new state. Sending the same again with the new version would undo the other's work.",
			"The UID is compared as well: by now the name may belong to a new namespace, which nobody wants to finalize.",
		},
		Read: []display.Reading{
			{Gear: "nsctl", Form: gears.Textbook, File: "nsctl/deleter.go", Why: "retryOnConflictError: read again, compare the UID, repeat"},
			{Gear: "nsctl", Form: gears.Fast, File: "nsctl/fast/deleter.go", Why: "retryOnConflict: read again, compare the UID, repeat"},
			{File: "restclient/api/statuserror.go", Why: "how a conflict is told from other errors"},
			{File: "internal/lab/apiserver/store/doc.go", Why: "the other side: compare and swap"},
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
