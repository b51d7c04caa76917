// Package informer keeps a local copy of a collection on an API server and tells any number of handlers what changes
// in it.
//
// # Concept
//
// A controller wants to read objects as often as it likes and to hear of every change. Asking the server each time
// would melt the server; a watch each for thirty controllers would, too. So one informer lists and watches a
// collection once, keeps it in a store, and shares both the store and the events:
//
//	API server
//	    │ list, watch
//	    ▼
//	Reflector              makes the queue look like the collection, whatever the network does
//	    │ Add, Update, Delete, Replace, Resync
//	    ▼
//	DeltaFIFO              what happened to each object and was not processed yet
//	    │ Pop
//	    ▼
//	HandleDeltas           the store decides: what it does not know is an addition, what it knows an update
//	    │          │
//	    ▼          ▼
//	Indexer     processor  one event, all handlers
//	               │
//	       ┌───────┼───────┐
//	       ▼       ▼       ▼
//	   listener listener listener    one buffer and one goroutine a handler
//	       │       │       │
//	   handler  handler  handler
//
// [SharedIndexInformer] is the whole of it, [SharedInformerFactory] hands out one informer a collection, [Lister]
// reads its store, [ResourceEventHandler] is what hears. The names are those of client-go; the events are about
// objects of one type T, and nothing is boxed or asserted on their way. The type can be a struct of one's own
// (*api.Namespace), the head that all objects have (*api.PartialObjectMetadata), or any document
// (*api.Unstructured); see the example of [NewSharedIndexInformer].
//
// The informer is level-triggered machinery. An event says that something is worth looking at; the truth is in the
// store, which may be newer than the event. The handler of a good controller puts the key into a work queue and
// returns.
//
// # How an event gets to a handler
//
// The loop applies the deltas of one key to the store and appends the events to a batch. When the queue has run
// empty, or after 64 events, the batch is handed to all listeners. They share it: it never changes, and each keeps
// only a reference to it. That is why sixteen handlers cost little more than one, and why a handler that is far
// behind pins each state of an object once, whoever else is behind as well.
//
// That is [Batching], the default. There are three more ways ([Config].Delivery, or [HandlerOptions].Delivery for one
// handler), which differ in what holds the events that a handler has not had time for:
//
//   - [ChannelPair], the classic listener: addCh, a goroutine pop with a growing ring of pendingNotifications, nextCh, a
//     goroutine run. It promises the same and costs two channel operations an event and handler.
//   - [Bounded], a ring of fixed size for each handler. When one is full the loop waits. Then nobody is told anything,
//     the store stands still, and the changes gather in the DeltaFIFO: one slow handler slows all others down.
//   - [Coalescing], one event for each object. What happens to an object while the handler works on it merges into one
//     event that comes after the handler has returned. States in between are skipped, deletions are not.
//
// The contract suite says for each what it lacks; the benchmark page of the repository, what it costs and when it is right.
//
// # Guarantees
//
// Order. A handler is told of the events of an object in the order in which they happened, one at a time. There is no
// order between handlers, nor between objects: while the informer is behind, an object keeps its place in the queue
// and collects what happens to it there.
//
// Completeness. A history makes sense: an addition of something new, updates from the state that was told last, a
// deletion of something that was told. What happened while the watch was down is told as the difference between the
// states before and after; a deletion that nobody saw is a [DeletedObject] with FinalStateUnknown and the state that
// handlers were told last.
//
// Late handlers are told of the store as it was when they joined, then of everything since; nothing is missed, nothing
// comes twice, and nobody waits meanwhile. The store gives a snapshot for nothing, which the goroutine of the new
// handler reads at its own pace.
//
// Independence. A handler that is slow, stuck or faulty delays nobody else. Its backlog has no bound (dropping
// events would break completeness, waiting would break independence), but it is visible: Snapshot,
// [Trace].HandlerLagging, and [Trace].HandlerStuck, which says which handler does not return, over which event, for how
// long, and how much waits for it. A handler that can do without the states in between may have its backlog merged, from some
// length on by [HandlerOptions].CompactAfter, or always by [Coalescing]. An informer that would rather wait takes [Bounded];
// whom it waits for is visible, too: [Trace].HandlerBlocked. Whoever removes a handler, or ends the informer, ends the
// waiting.
//
// Synced. [SharedIndexInformer.HasSynced] says that the first list is in the store; [Registration.HasSynced] that a
// handler has been told of it and has returned.
//
// Resync. A handler may ask to be reminded of every object now and then. The reminder comes from the store and
// costs the server nothing. An update without a new resource version, as from a resync or a repeated list, is told
// only to handlers whose resync is due.
//
// # Immutable data
//
// Objects in the store are shared by everybody who reads it and by all handlers. Nobody may change them. Make a copy
// first. There is no lock that would make it right: others hold the same pointer. Whoever doubts switches on the
// mutation detector ([MutationDetectorConfig], or KUBE_CACHE_MUTATION_DETECTOR=true), which names the object and shows
// the difference. To make objects smaller use a [TransformFunc], which runs before anybody else sees them.
//
// # Goroutines
//
// Run owns all of them and returns when they have ended: the reflector and its keeper of time, the loop (on the
// caller's goroutine), one for each handler (two for a channel pair), one that announces the sync and one that
// reports errors, and that of the mutation detector. They end in this order: reflector and loop, then no handler can
// be added, then the handlers, then the rest. A handler that is removed takes its goroutine with it
// (client-go issue 1167).
//
// Callbacks run on the goroutine of their handler. They may call any method of the informer; a removal that waits, of
// the handler itself, is refused with [ErrInsideHandler] and not a deadlock. A callback that never returns keeps Run
// from returning. HandlerStuck, if it is set, is called by one goroutine more, which looks every 15 seconds.
//
// # Failure
//
// The reflector repairs what can be repaired and tells the rest to Config.WatchErrorHandler; see package reflector.
//
// A panic in a handler goes to wait.PanicHandlers and ends the process, because a program with a fault in it is worse
// than none. With wait.ReallyCrash off the event counts as handled and the next one follows; a registration becomes
// synced all the same (kubernetes/kubernetes#129024).
//
// An event that cannot be applied, because a transform refuses it or an index function fails, is counted and told
// as a [*ProcessError] and keeps nobody from the next event. After an index function has failed the object is in the
// store and told to handlers, and only missing in that index.
//
// Errors are told apart by errors.Is and errors.As: [ErrStarted], [ErrStopped], [ErrForeignRegistration] and so on.
//
// # Testing
//
// Package informertest has a server in memory that can misbehave, and the contract of an informer: this one with
// all kinds of listeners, and client-go's, pass it, the differences being named. Random histories (changes, lost
// connections, lists, handlers that come and go) must make sense to every handler and lead to the state of the server.
// Tests run in synctest bubbles, where a resync of twenty minutes takes no time and a goroutine that is left is a
// failure.
//
// Next: package restclient
package informer
