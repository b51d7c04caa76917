package trace

import (
	"strconv"
	"strings"
	"time"
)

// kind is a hook of a gear.
type kind struct {
	gear, hook string
	name       string // of its events
	fill       func(e *Event, r *record)
}

var kinds []*kind

// hook defines a kind. Its event has the gear's name and the hook's, which begins with a small
// letter. fill, if not nil, sets what [record.event] does not.
func hook(gear, hook string, fill func(e *Event, r *record)) *kind {
	k := &kind{gear: gear, hook: hook, name: gear + "." + strings.ToLower(hook[:1]) + hook[1:], fill: fill}
	kinds = append(kinds, k)
	return k
}

// event returns the event of a record at a time, without its number and causes.
func (r *record) event(at int64) *Event {
	e := &Event{
		Time: at / 1000, Name: r.kind.name, In: r.in, Key: r.key, ResourceVersion: r.rv,
		N: r.n, M: r.m, Micros: micros(r.took), Number: r.num, Err: errText(r.err),
	}
	if r.kind.fill != nil {
		r.kind.fill(e, r)
	}
	return e
}

// micros rounds up, so that no duration becomes 0.
func micros(d time.Duration) int64 {
	return int64((max(d, 0) + time.Microsecond - 1) / time.Microsecond)
}

// The fills that several hooks share.
func fillKind(e *Event, r *record)    { e.Kind = r.b }
func fillHandler(e *Event, r *record) { e.Handler, e.Kind = r.a+"#"+strconv.FormatUint(r.id, 10), r.b }
func fillDelta(e *Event, r *record)   { e.Deltas = r.a }
func fillDeltas(e *Event, r *record) {
	e.Deltas, e.Initial = letters(r.id, r.m), r.yes
	if r.m <= packed {
		e.M = 0
	}
}
func fillContent(e *Event, r *record) { e.Resource = r.a }
func fillPhase(e *Event, r *record)   { e.Phase = r.a }
func fillRequest(e *Event, r *record) {
	e.Request, e.Pass, e.Verb, e.Resource, e.Path, e.Attempt, e.In = r.id, r.in, r.a, r.b, clip(r.c), r.x, ""
}
func fillResult(e *Event, r *record)   { e.Request, e.Code = r.id, r.x }
func fillWarning(e *Event, r *record)  { e.Pass, e.Text = r.a, shown(r.b) }
func fillIdentity(e *Event, r *record) { e.Identity = r.a }
func fillGate(e *Event, r *record)     { e.Gate = r.a }
func fillLabel(e *Event, r *record)    { e.Label, e.Arguments = r.a, r.b }

// There is a kind for every hook. TestEveryHookHasAKind walks the Trace structs.
var (
	reflectorStateChanged = hook("reflector", "StateChanged", func(e *Event, r *record) {
		e.From, e.To, e.On = r.a, r.b, r.c
	})
	reflectorPageListed   = hook("reflector", "PageListed", func(e *Event, r *record) { e.Page, e.More = r.x, r.yes })
	reflectorListed       = hook("reflector", "Listed", func(e *Event, r *record) { e.Pages = r.x })
	reflectorAbandoned    = hook("reflector", "StreamingListAbandoned", nil)
	reflectorWatchStarted = hook("reflector", "WatchStarted", nil)
	reflectorEvent        = hook("reflector", "Event", func(e *Event, r *record) {
		e.Type = r.a
		if r.b != "" {
			e.Key = r.b + "/" + r.key
		}
	})
	reflectorBookmark    = hook("reflector", "Bookmark", func(e *Event, r *record) { e.Initial = r.yes })
	reflectorWatchEnded  = hook("reflector", "WatchEnded", nil)
	reflectorBackOff     = hook("reflector", "BackOff", nil)
	reflectorExpired     = hook("reflector", "Expired", nil)
	reflectorIdleTimeout = hook("reflector", "IdleTimeout", nil)
	reflectorResync      = hook("reflector", "Resync", nil)
	reflectorStoreFailed = hook("reflector", "StoreFailed", func(e *Event, r *record) { e.Op = r.a })

	deltafifoQueued       = hook("deltafifo", "Queued", fillDelta)
	deltafifoDeduplicated = hook("deltafifo", "Deduplicated", fillDelta)
	deltafifoIgnored      = hook("deltafifo", "Ignored", fillDelta)
	deltafifoCanceled     = hook("deltafifo", "Canceled", fillDelta)
	deltafifoReplaced     = hook("deltafifo", "Replaced", nil)
	deltafifoResynced     = hook("deltafifo", "Resynced", nil)
	deltafifoPopped       = hook("deltafifo", "Popped", fillDeltas)
	deltafifoProcessed    = hook("deltafifo", "Processed", nil)
	deltafifoRequeued     = hook("deltafifo", "Requeued", fillDeltas)
	deltafifoSynced       = hook("deltafifo", "Synced", nil)
	deltafifoClosed       = hook("deltafifo", "Closed", nil)

	indexerAdded       = hook("indexer", "Added", nil)
	indexerUpdated     = hook("indexer", "Updated", nil)
	indexerDeleted     = hook("indexer", "Deleted", nil)
	indexerReplaced    = hook("indexer", "Replaced", nil)
	indexerIndexFailed = hook("indexer", "IndexFailed", nil)

	informerStarted      = hook("informer", "Started", nil)
	informerStopped      = hook("informer", "Stopped", nil)
	informerSynced       = hook("informer", "Synced", nil)
	informerHandlerAdded = hook("informer", "HandlerAdded", func(e *Event, r *record) {
		fillHandler(e, r)
		e.Label = r.a
	})
	informerHandlerRemoved  = hook("informer", "HandlerRemoved", fillHandler)
	informerHandlerEnded    = hook("informer", "HandlerEnded", fillHandler)
	informerHandlerSynced   = hook("informer", "HandlerSynced", fillHandler)
	informerHandlerLagging  = hook("informer", "HandlerLagging", fillHandler)
	informerHandlerStuck    = hook("informer", "HandlerStuck", fillHandler)
	informerHandlerPanicked = hook("informer", "HandlerPanicked", fillHandler)
	informerApplied         = hook("informer", "Applied", func(e *Event, r *record) {
		e.Kind, e.Deltas, e.Sync = r.b, r.a, r.yes
	})
	informerDistributed   = hook("informer", "Distributed", fillKind)
	informerHandlerQueued = hook("informer", "HandlerQueued", func(e *Event, r *record) {
		fillHandler(e, r)
		e.Pending, e.Merged, e.M = r.x, r.m, 0
	})
	informerHandlerCalled = hook("informer", "HandlerCalled", fillHandler)
	informerHandled       = hook("informer", "Handled", fillHandler)
	informerResyncDue     = hook("informer", "ResyncDue", nil)
	informerProcessError  = hook("informer", "ProcessError", nil)
	informerMutated       = hook("informer", "Mutated", nil)

	queueAdded         = hook("queue", "Added", nil)
	queueCoalesced     = hook("queue", "Coalesced", nil)
	queueRefused       = hook("queue", "Refused", nil)
	queueDelayed       = hook("queue", "Delayed", nil)
	queueDelayCanceled = hook("queue", "DelayCanceled", nil)
	queueDelayEnded    = hook("queue", "DelayEnded", nil)
	queueGot           = hook("queue", "Got", nil)
	queueDone          = hook("queue", "Done", nil)
	queueDoneUnknown   = hook("queue", "DoneUnknown", nil)
	queueRetried       = hook("queue", "Retried", nil)
	queueForgotten     = hook("queue", "Forgotten", nil)
	queueShuttingDown  = hook("queue", "ShuttingDown", func(e *Event, r *record) { e.Drain = r.yes })

	nsctlEnqueued          = hook("nsctl", "Enqueued", func(e *Event, r *record) { e.UID, e.Phase = r.b, r.a })
	nsctlGone              = hook("nsctl", "Gone", nil)
	nsctlPassContext       = hook("nsctl", "PassContext", func(e *Event, r *record) { e.Pass = r.a })
	nsctlPassStarted       = hook("nsctl", "PassStarted", nil)
	nsctlPassDone          = hook("nsctl", "PassDone", nil)
	nsctlPassStuck         = hook("nsctl", "PassStuck", nil)
	nsctlPassPanicked      = hook("nsctl", "PassPanicked", nil)
	nsctlPhaseStarted      = hook("nsctl", "PhaseStarted", fillPhase)
	nsctlPhaseDone         = hook("nsctl", "PhaseDone", fillPhase)
	nsctlDiscovered        = hook("nsctl", "Discovered", nil)
	nsctlEmptinessChecked  = hook("nsctl", "EmptinessChecked", func(e *Event, r *record) { e.Pass = r.a })
	nsctlTypeDeleted       = hook("nsctl", "TypeDeleted", fillContent)
	nsctlWouldDelete       = hook("nsctl", "WouldDelete", fillContent)
	nsctlConflict          = hook("nsctl", "Conflict", nil)
	nsctlFinalized         = hook("nsctl", "Finalized", nil)
	nsctlConditionsUpdated = hook("nsctl", "ConditionsUpdated", func(e *Event, r *record) {
		e.Type, e.Status, e.Reason, e.Message, e.In = r.a, r.b, r.in, shown(r.c), ""
	})
	nsctlConditionsFailed = hook("nsctl", "ConditionsFailed", nil)

	restclientRequestStart = hook("restclient", "RequestStart", fillRequest)
	restclientRequestDone  = hook("restclient", "RequestDone", fillResult)
	restclientRetry        = hook("restclient", "Retry", fillResult)
	restclientThrottled    = hook("restclient", "Throttled", fillResult)
	restclientFinished     = hook("restclient", "Finished", fillResult)
	restclientWarning      = hook("restclient", "Warning", fillWarning)
	restclientWatchOpened  = hook("restclient", "WatchOpened", fillRequest)
	restclientWatchClosed  = hook("restclient", "WatchClosed", fillResult)

	electionAcquired    = hook("leaderelection", "Acquired", fillIdentity)
	electionRenewed     = hook("leaderelection", "Renewed", nil)
	electionSlowPath    = hook("leaderelection", "SlowPath", nil)
	electionFailed      = hook("leaderelection", "Failed", nil)
	electionLost        = hook("leaderelection", "Lost", nil)
	electionReleased    = hook("leaderelection", "Released", nil)
	electionNewLeader   = hook("leaderelection", "NewLeader", fillIdentity)
	electionWatchFailed = hook("leaderelection", "WatchFailed", nil)

	labScene    = hook("lab", "Scene", fillLabel)
	labInput    = hook("lab", "Input", fillLabel)
	labHeld     = hook("lab", "Held", fillGate)
	labStepped  = hook("lab", "Stepped", fillGate)
	labReleased = hook("lab", "Released", fillGate)
	labChapter  = hook("lab", "Chapter", fillLabel)
	labQuestion = hook("lab", "Question", fillLabel)
	labAnswer   = hook("lab", "Answer", func(e *Event, r *record) { e.Label, e.Text = r.a, r.b })
)

// leftOut are the hooks without a kind, with the reason.
var leftOut = map[string]string{
	"restclient.WatchFrame": "one more event for each event of a watch; WatchClosed has their number",
	"nsctl.Deleted":         "a number for the log; TypeDeleted shows each type",
	"nsctl.NoToken":         "nothing is done, and nothing can be seen",
	"nsctl.ConditionsKept":  "the conditions are those of the last ConditionsUpdated",
}

// Names returns the names of the events of all hooks.
func Names() (all []string) {
	for _, k := range kinds {
		all = append(all, k.name)
	}
	return all
}
