package trace

import (
	"slices"
	"strconv"
)

// gear is a package whose hooks are recorded.
type gear uint8

const (
	gearReflector gear = iota
	gearFIFO
	gearIndexer
	gearInformer
	gearQueue
	gearNsctl
	gearRestclient
	gearElection
	gearServer
	gearLab
	gearTrace
	gears
)

var gearNames = [gears]string{"reflector", "deltafifo", "indexer", "informer", "queue", "nsctl", "restclient",
	"leaderelection", "apiserver", "lab", "trace"}

// kind is a hook.
type kind uint8

const (
	reflectorStateChanged kind = iota
	reflectorPageListed
	reflectorListed
	reflectorStreamingListAbandoned
	reflectorWatchStarted
	reflectorEvent
	reflectorBookmark
	reflectorWatchEnded
	reflectorBackOff
	reflectorExpired
	reflectorIdleTimeout
	reflectorResync
	reflectorStoreFailed

	deltafifoQueued
	deltafifoDeduplicated
	deltafifoIgnored
	deltafifoCanceled
	deltafifoReplaced
	deltafifoResynced
	deltafifoPopped
	deltafifoProcessed
	deltafifoRequeued
	deltafifoSynced
	deltafifoClosed

	indexerAdded
	indexerUpdated
	indexerDeleted
	indexerReplaced
	indexerIndexFailed

	informerStarted
	informerStopped
	informerSynced
	informerHandlerAdded
	informerHandlerRemoved
	informerHandlerEnded
	informerHandlerSynced
	informerHandlerLagging
	informerHandlerStuck
	informerHandlerPanicked
	informerApplied
	informerDistributed
	informerHandlerQueued
	informerHandlerCalled
	informerHandled
	informerResyncDue
	informerProcessError
	informerMutated

	queueAdded
	queueCoalesced
	queueRefused
	queueDelayed
	queueDelayCanceled
	queueDelayEnded
	queueGot
	queueDone
	queueDoneUnknown
	queueRetried
	queueForgotten
	queueShuttingDown

	nsctlEnqueued
	nsctlGone
	nsctlPassContext
	nsctlPassStarted
	nsctlPassDone
	nsctlPassStuck
	nsctlPassPanicked
	nsctlPhaseStarted
	nsctlPhaseDone
	nsctlDiscovered
	nsctlEmptinessChecked
	nsctlTypeDeleted
	nsctlWouldDelete
	nsctlConflict
	nsctlFinalized
	nsctlConditionsUpdated
	nsctlConditionsFailed

	restclientRequestStart
	restclientRequestDone
	restclientRetry
	restclientThrottled
	restclientFinished
	restclientWarning
	restclientWatchOpened
	restclientWatchClosed

	electionAcquired
	electionRenewed
	electionSlowPath
	electionFailed
	electionLost
	electionReleased
	electionNewLeader
	electionWatchFailed

	serverRequestStarted
	serverRequestDone

	labScene
	labInput
	labHeld
	labStepped
	labReleased
	labChapter
	labQuestion
	labAnswer
	kindCount
)

// row describes one hook. The event's name is the gear's name and the hook's, which begins with a
// small letter. fill sets the fields of the event from the slots of the record; In, Key and Time
// are set already.
type row struct {
	gear gear
	hook string
	fill func(e *Event, r *record)
}

func plain(*Event, *record) {}

// The fills that several hooks share.
func fillTime(e *Event, r *record)    { e.Micros = micros(r.z) }
func fillCount(e *Event, r *record)   { e.N = r.x }
func fillErr(e *Event, r *record)     { e.Err = r.c }
func fillHandler(e *Event, r *record) { e.Handler, e.N, e.Micros = handlerName(r), r.x, micros(r.z) }
func fillDelta(e *Event, r *record) {
	e.Deltas, e.ResourceVersion, e.UID, e.N = r.a, r.b, r.c, r.x
}
func fillDeltas(e *Event, r *record) {
	e.Deltas, e.N, e.Initial, e.Err = letters(uint64(r.x), r.y), r.z, r.yes, r.c
	if r.y > packed {
		e.M = r.y
	}
}
func fillWatched(e *Event, r *record) { e.Type, e.ResourceVersion, e.UID = r.a, r.b, r.c }
func fillContent(e *Event, r *record) { e.Resource, e.N, e.Err = r.a, r.x, r.c }
func fillRequest(e *Event, r *record) {
	e.Request, e.Pass, e.Verb, e.Resource, e.Path, e.Attempt = r.id, r.in, r.a, r.b, clip(r.c), r.x
	e.In = ""
}
func fillResult(e *Event, r *record) {
	e.Request, e.ResourceVersion, e.N, e.Code, e.Micros, e.Err = r.id, r.b, r.x, r.y, micros(r.z), r.c
}

// kinds has a row for every hook. TestEveryHookHasARow walks the Trace structs.
var kinds = [kindCount]row{
	reflectorStateChanged:           {gearReflector, "StateChanged", func(e *Event, r *record) { e.From, e.To, e.On = r.a, r.b, r.c }},
	reflectorPageListed:             {gearReflector, "PageListed", func(e *Event, r *record) { e.ResourceVersion, e.Page, e.N, e.More = r.a, r.x, r.y, r.yes }},
	reflectorListed:                 {gearReflector, "Listed", func(e *Event, r *record) { e.ResourceVersion, e.N, e.Pages, e.Micros = r.a, r.x, r.y, micros(r.z) }},
	reflectorStreamingListAbandoned: {gearReflector, "StreamingListAbandoned", fillErr},
	reflectorWatchStarted:           {gearReflector, "WatchStarted", func(e *Event, r *record) { e.ResourceVersion = r.a }},
	reflectorEvent:                  {gearReflector, "Event", fillWatched},
	reflectorBookmark:               {gearReflector, "Bookmark", func(e *Event, r *record) { e.ResourceVersion, e.Initial = r.a, r.yes }},
	reflectorWatchEnded:             {gearReflector, "WatchEnded", func(e *Event, r *record) { e.ResourceVersion, e.N, e.Micros, e.Err = r.a, r.x, micros(r.z), r.c }},
	reflectorBackOff:                {gearReflector, "BackOff", func(e *Event, r *record) { e.Micros, e.Err = micros(r.z), r.c }},
	reflectorExpired:                {gearReflector, "Expired", func(e *Event, r *record) { e.ResourceVersion, e.Err = r.a, r.c }},
	reflectorIdleTimeout:            {gearReflector, "IdleTimeout", fillTime},
	reflectorResync:                 {gearReflector, "Resync", fillErr},
	reflectorStoreFailed:            {gearReflector, "StoreFailed", func(e *Event, r *record) { e.Op, e.ResourceVersion, e.Err = r.a, r.b, r.c }},

	deltafifoQueued:       {gearFIFO, "Queued", fillDelta},
	deltafifoDeduplicated: {gearFIFO, "Deduplicated", fillDelta},
	deltafifoIgnored:      {gearFIFO, "Ignored", fillDelta},
	deltafifoCanceled:     {gearFIFO, "Canceled", fillDelta},
	deltafifoReplaced:     {gearFIFO, "Replaced", func(e *Event, r *record) { e.ResourceVersion, e.N, e.M = r.a, r.x, r.y }},
	deltafifoResynced:     {gearFIFO, "Resynced", func(e *Event, r *record) { e.N, e.M = r.x, r.y }},
	deltafifoPopped:       {gearFIFO, "Popped", fillDeltas},
	deltafifoProcessed:    {gearFIFO, "Processed", fillErr},
	deltafifoRequeued:     {gearFIFO, "Requeued", fillDeltas},
	deltafifoSynced:       {gearFIFO, "Synced", plain},
	deltafifoClosed:       {gearFIFO, "Closed", fillCount},

	indexerAdded:       {gearIndexer, "Added", plain},
	indexerUpdated:     {gearIndexer, "Updated", plain},
	indexerDeleted:     {gearIndexer, "Deleted", plain},
	indexerReplaced:    {gearIndexer, "Replaced", func(e *Event, r *record) { e.N, e.ResourceVersion = r.x, r.a }},
	indexerIndexFailed: {gearIndexer, "IndexFailed", fillErr},

	informerStarted:         {gearInformer, "Started", plain},
	informerStopped:         {gearInformer, "Stopped", plain},
	informerSynced:          {gearInformer, "Synced", plain},
	informerHandlerAdded:    {gearInformer, "HandlerAdded", func(e *Event, r *record) { e.Handler, e.Label, e.N = handlerName(r), r.a, r.x }},
	informerHandlerRemoved:  {gearInformer, "HandlerRemoved", fillHandler},
	informerHandlerEnded:    {gearInformer, "HandlerEnded", fillHandler},
	informerHandlerSynced:   {gearInformer, "HandlerSynced", fillHandler},
	informerHandlerLagging:  {gearInformer, "HandlerLagging", fillHandler},
	informerHandlerStuck:    {gearInformer, "HandlerStuck", func(e *Event, r *record) { fillHandler(e, r); e.Kind = r.b }},
	informerHandlerPanicked: {gearInformer, "HandlerPanicked", func(e *Event, r *record) { fillHandler(e, r); e.Kind = r.b }},
	informerApplied: {gearInformer, "Applied", func(e *Event, r *record) {
		e.Kind, e.Deltas, e.ResourceVersion, e.Sync, e.Number = r.a, r.b, r.c, r.yes, r.num
	}},
	informerDistributed: {gearInformer, "Distributed", func(e *Event, r *record) { e.Kind, e.N, e.Number = r.a, r.x, r.num }},
	informerHandlerQueued: {gearInformer, "HandlerQueued", func(e *Event, r *record) {
		e.Handler, e.N, e.Pending, e.Merged, e.Number = handlerName(r), r.x, r.y, r.z, r.num
	}},
	informerHandlerCalled: {gearInformer, "HandlerCalled", func(e *Event, r *record) { e.Handler, e.Kind, e.Number = handlerName(r), r.b, r.num }},
	informerHandled: {gearInformer, "Handled", func(e *Event, r *record) {
		e.Handler, e.Kind, e.Number, e.Micros = handlerName(r), r.b, r.num, micros(r.z)
	}},
	informerResyncDue:    {gearInformer, "ResyncDue", fillCount},
	informerProcessError: {gearInformer, "ProcessError", fillErr},
	informerMutated:      {gearInformer, "Mutated", plain},

	queueAdded:         {gearQueue, "Added", plain},
	queueCoalesced:     {gearQueue, "Coalesced", plain},
	queueRefused:       {gearQueue, "Refused", plain},
	queueDelayed:       {gearQueue, "Delayed", fillTime},
	queueDelayCanceled: {gearQueue, "DelayCanceled", plain},
	queueDelayEnded:    {gearQueue, "DelayEnded", fillTime},
	queueGot:           {gearQueue, "Got", fillTime},
	queueDone:          {gearQueue, "Done", fillTime},
	queueDoneUnknown:   {gearQueue, "DoneUnknown", plain},
	queueRetried:       {gearQueue, "Retried", func(e *Event, r *record) { e.N, e.Micros = r.x, micros(r.z) }},
	queueForgotten:     {gearQueue, "Forgotten", plain},
	queueShuttingDown:  {gearQueue, "ShuttingDown", func(e *Event, r *record) { e.Drain, e.N = r.yes, r.x }},

	nsctlEnqueued:          {gearNsctl, "Enqueued", func(e *Event, r *record) { e.UID, e.Phase, e.Micros = r.a, r.b, micros(r.z) }},
	nsctlGone:              {gearNsctl, "Gone", fillTime},
	nsctlPassContext:       {gearNsctl, "PassContext", func(e *Event, r *record) { e.Pass = r.a }},
	nsctlPassStarted:       {gearNsctl, "PassStarted", plain},
	nsctlPassDone:          {gearNsctl, "PassDone", func(e *Event, r *record) { e.N, e.Err, e.Micros = r.x, r.c, micros(r.z) }},
	nsctlPassStuck:         {gearNsctl, "PassStuck", func(e *Event, r *record) { e.N, e.Micros = r.x, micros(r.z) }},
	nsctlPassPanicked:      {gearNsctl, "PassPanicked", plain},
	nsctlPhaseStarted:      {gearNsctl, "PhaseStarted", func(e *Event, r *record) { e.Phase = r.a }},
	nsctlPhaseDone:         {gearNsctl, "PhaseDone", func(e *Event, r *record) { e.Phase, e.Micros = r.a, micros(r.z) }},
	nsctlDiscovered:        {gearNsctl, "Discovered", func(e *Event, r *record) { e.N, e.Err = r.x, r.c }},
	nsctlEmptinessChecked:  {gearNsctl, "EmptinessChecked", func(e *Event, r *record) { e.Pass, e.N, e.M, e.Micros = r.a, r.x, r.y, micros(r.z) }},
	nsctlTypeDeleted:       {gearNsctl, "TypeDeleted", fillContent},
	nsctlWouldDelete:       {gearNsctl, "WouldDelete", fillContent},
	nsctlConflict:          {gearNsctl, "Conflict", fillErr},
	nsctlFinalized:         {gearNsctl, "Finalized", fillErr},
	nsctlConditionsUpdated: {gearNsctl, "ConditionsUpdated", func(e *Event, r *record) { e.Type, e.Status, e.Reason, e.Message = r.a, r.b, r.in, r.c; e.In = "" }},
	nsctlConditionsFailed:  {gearNsctl, "ConditionsFailed", fillErr},

	restclientRequestStart: {gearRestclient, "RequestStart", fillRequest},
	restclientRequestDone:  {gearRestclient, "RequestDone", fillResult},
	restclientRetry:        {gearRestclient, "Retry", fillResult},
	restclientThrottled:    {gearRestclient, "Throttled", fillResult},
	restclientFinished:     {gearRestclient, "Finished", fillResult},
	restclientWarning:      {gearRestclient, "Warning", func(e *Event, r *record) { e.Text, e.Pass = r.c, r.a }},
	restclientWatchOpened:  {gearRestclient, "WatchOpened", fillRequest},
	restclientWatchClosed:  {gearRestclient, "WatchClosed", fillResult},

	electionAcquired:    {gearElection, "Acquired", func(e *Event, r *record) { e.Identity = r.a }},
	electionRenewed:     {gearElection, "Renewed", fillTime},
	electionSlowPath:    {gearElection, "SlowPath", plain},
	electionFailed:      {gearElection, "Failed", fillErr},
	electionLost:        {gearElection, "Lost", fillErr},
	electionReleased:    {gearElection, "Released", fillErr},
	electionNewLeader:   {gearElection, "NewLeader", func(e *Event, r *record) { e.Identity, e.Micros = r.a, micros(r.z) }},
	electionWatchFailed: {gearElection, "WatchFailed", fillErr},

	serverRequestStarted: {gearServer, "RequestStarted", func(e *Event, r *record) { e.Verb, e.User = r.a, r.b }},
	serverRequestDone:    {gearServer, "RequestDone", func(e *Event, r *record) { e.Verb, e.User, e.Code, e.Micros = r.a, r.b, r.y, micros(r.z) }},

	labScene:    {gearLab, "Scene", func(e *Event, r *record) { e.Label, e.Arguments = r.a, r.b }},
	labInput:    {gearLab, "Input", func(e *Event, r *record) { e.Label, e.Arguments = r.a, r.b }},
	labHeld:     {gearLab, "Held", func(e *Event, r *record) { e.Gate = r.a }},
	labStepped:  {gearLab, "Stepped", func(e *Event, r *record) { e.Gate = r.a }},
	labReleased: {gearLab, "Released", func(e *Event, r *record) { e.Gate = r.a }},
	labChapter:  {gearLab, "Chapter", func(e *Event, r *record) { e.Label = r.a }},
	labQuestion: {gearLab, "Question", func(e *Event, r *record) { e.Label, e.Arguments = r.a, r.b }},
	labAnswer:   {gearLab, "Answer", func(e *Event, r *record) { e.Label, e.Text = r.a, r.b }},
}

// leftOut are the hooks without a kind, with the reason.
var leftOut = map[string]string{
	"restclient.WatchFrame": "one more event for each event of a watch; WatchClosed has their number",
	"nsctl.Deleted":         "a number for the log; TypeDeleted shows each type",
	"nsctl.NoToken":         "nothing is done, and nothing can be seen",
	"nsctl.ConditionsKept":  "the conditions are those of the last ConditionsUpdated",
	"apiserver.Panicked":    "a mistake in the laboratory, which the server logs",
}

// names are the names of the events.
var names = func() (all [kindCount]string) {
	for i, row := range kinds {
		hook := []byte(row.hook)
		hook[0] |= 'a' - 'A'
		all[i] = gearNames[row.gear] + "." + string(hook)
	}
	return all
}()

// Names returns the names of all events of hooks.
func Names() []string { return slices.Clone(names[:]) }

// micros rounds up, so that no duration becomes 0.
func micros(ns int64) int64 {
	if ns <= 0 {
		return 0
	}
	return (ns + 999) / 1000
}

func handlerName(r *record) string { return r.a + "#" + strconv.FormatUint(r.id, 10) }
