package events

import (
	"context"
	"slices"
	"time"

	"orrery/restclient/api"
)

// Trace is a set of hooks that are called as a [Recorder] works. The pointer and each hook may be
// nil. Hooks must not block. The context has the values of the one that was passed to Event.
type Trace struct {
	// Recorded: the server has accepted the Event, or has increased its count.
	Recorded func(ctx context.Context, event *api.Event)
	// Dropped: the Event will not be recorded; err may be nil, see [Drop].
	Dropped func(ctx context.Context, event *api.Event, why Drop, err error)
	// Muted: the server forbids Events in the namespace; none is sent there during the pause.
	Suppressed func(ctx context.Context, namespace string, err error, pause time.Duration)
	// Retry: the server could not be reached; the Event is sent again after the pause.
	Retry func(ctx context.Context, event *api.Event, err error, pause time.Duration)
}

// Drop is why an Event was not recorded.
type Drop string

// The reasons for which an Event is not recorded.
const (
	DropQueueFull Drop = "queue full" // too many were waiting
	DropLimited   Drop = "limited"    // too many about this object
	DropForbidden Drop = "forbidden"  // the server forbids it, or has forbidden it recently
	DropRefused   Drop = "refused"    // the server has rejected this one
	DropGivenUp   Drop = "given up"   // the server could not be reached for too long
	DropStopped   Drop = "stopped"    // the recorder was stopped before it was sent
)

// drops holds all reasons.
var drops = []Drop{DropQueueFull, DropLimited, DropForbidden, DropRefused, DropGivenUp, DropStopped}

// Drops returns all reasons.
func Drops() []Drop { return slices.Clone(drops) }
