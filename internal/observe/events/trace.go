package events

import (
	"context"
	"time"

	"orrery/restclient/api"
)

// Trace is a set of hooks that are called as a [Recorder] works. Any of them may be nil, and so may the pointer. They must
// not block. The context is the one that the Event was noted with: it carries what that carried.
type Trace struct {
	// Recorded: the server has the Event; if it was there already its count was raised.
	Recorded func(ctx context.Context, event *api.Event)
	// Dropped: an Event is not going to be recorded; err may be nil, see [Drop].
	Dropped func(ctx context.Context, event *api.Event, why Drop, err error)
	// Muted: the server forbids Events in that namespace. For so long none is sent there.
	Muted func(ctx context.Context, namespace string, err error, pause time.Duration)
	// Retry: the server could not be reached; the Event is sent again after the pause.
	Retry func(ctx context.Context, event *api.Event, err error, pause time.Duration)
}

// Drop is why an Event was not recorded.
type Drop string

// The reasons for which an Event is not recorded.
const (
	DropQueueFull Drop = "queue full" // more came than could be sent
	DropLimited   Drop = "limited"    // there have been too many about this object
	DropForbidden Drop = "forbidden"  // the server forbids it, or has forbidden it a moment ago
	DropRefused   Drop = "refused"    // the server does not want this one
	DropGivenUp   Drop = "given up"   // the server could not be reached for too long
	DropStopped   Drop = "stopped"    // the recorder was stopped before it was sent
)

// drops are all of them, in the order of Snapshot.
var drops = []Drop{DropQueueFull, DropLimited, DropForbidden, DropRefused, DropGivenUp, DropStopped}
