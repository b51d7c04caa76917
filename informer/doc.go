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
//	   listener listener listener    one backlog a handler
//	       │       │       │
//	   handler  handler  handler
//
// "The article" is the one on the controller manager, named in docs/mechanisms.md. "Textbook" is the form that follows
// it: this package. Package fast has the optimized form.
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
// # How to read it
//
// Two pages are the heart: handle_deltas.go, where the store decides what an event is, and processor.go, the textbook
// sharedProcessor with its listeners (addCh, pop, pendingNotifications, nextCh, run). What every form of processor needs of a
// handler (counting, panics, the resync schedule) is in [RegisteredHandler].
//
// The parts are behind small interfaces ([Queue], [Indexer], [Reflector], [Processor]). [Gears] in [Config] chooses their forms;
// the zero value is the textbook. Package fast has the processor that shares batches among all handlers and can merge the
// backlog of a handler, and a set of gears that are all fast.
//
// # Guarantees
//
// Order. A handler receives the events of an object in the order in which they happened, one at a time. There is no
// order between handlers, nor between objects: while the informer is behind, an object keeps its place in the queue
// and collects what happens to it there. (With deltafifo/inorder as its queue, events are in order of arrival.)
//
// Completeness. A history makes sense: an addition of something new, updates from the state that was told last, a
// deletion of something that was added. What happened while the watch was down arrives as the difference between the
// states before and after; a deletion that was not watched is a [DeletedObject] with FinalStateUnknown and the state that
// handlers received last.
//
// Late handlers are told of the store as it was when they joined, then of everything since: nothing is missed, and nothing
// comes twice. No event is processed while the store is copied; the callbacks run beside the flow of events.
//
// Independence. A handler that is slow, stuck or faulty delays no other handler. Its backlog has no bound (dropping
// events would break completeness, waiting would break independence), but it is visible: Snapshot,
// [Trace].HandlerLagging, and [Trace].HandlerStuck, which says which handler does not return, over which event, for how
// long, and how much waits for it. With package fast a handler that can do without the states in between may have its backlog
// merged, see [HandlerOptions].
//
// Synced. [SharedIndexInformer.HasSynced] says that the first list is in the store; [Registration.HasSynced] that a
// handler has been told of it and has returned.
//
// Resync. A handler may ask to be reminded of every object now and then. The reminder comes from the store and
// costs the server nothing. An update without a new resource version, as from a resync or a repeated list, goes
// only to handlers whose resync is due.
//
// Selection. An informer holds what its list options select ([Config].TweakListOptions). An object that ceases to be selected
// is a deletion.
//
// # Immutable data
//
// Objects in the store are shared by all readers and all handlers. Do not change them. Make a copy
// first. No lock would make a change right: others hold the same pointer. To find such changes, switch on the
// mutation detector ([MutationDetectorConfig], or KUBE_CACHE_MUTATION_DETECTOR=true), which names the object and shows
// the difference. To make objects smaller use a [TransformFunc], which runs before the store and the handlers see them.
//
// # Goroutines
//
// Run owns all of them and returns when they have ended: the reflector and what it starts, the loop (on the
// caller's goroutine), those of the processor (two for each handler, or one with package fast), one that announces the sync,
// one that reports errors, and that of the mutation detector. They end in this order: reflector and loop, then no handler can
// be added, then the handlers, then the rest. A handler that is removed takes its goroutines with it
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
// An event that cannot be applied, because a transform refuses it or an index function fails, is counted and
// reported as a [*ProcessError]; the next event is processed. After an index function has failed, the object is in the
// store, handlers receive it, and it is missing in that index only.
//
// Errors are told apart by errors.Is and errors.As: [ErrStarted], [ErrStopped], [ErrForeignRegistration] and so on.
//
// # Testing
//
// Package informertest has a server in memory that can misbehave, and the contract of an informer: this one with
// all forms of processor, and client-go's, pass it, the differences being named. Random histories (changes, lost
// connections, lists, handlers that come and go) must make sense to every handler and lead to the state of the server.
// Tests run in synctest bubbles, where a resync of twenty minutes takes no time and a goroutine that is left is a
// failure.
//
// Next: package restclient
package informer
