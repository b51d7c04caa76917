// Package informer keeps a local copy of a collection on an API server and notifies any number of
// handlers of its changes.
//
// # Concept
//
// A controller reads objects often and must learn of every change. Asking the server each time
// would overload it, and so would a separate watch for each of thirty controllers. So one informer
// lists and watches a collection once, keeps it in a store, and shares both the store and the
// events:
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
// "The article" is the one on the controller manager, named in docs/learn/mechanisms.md. "Textbook"
// is the form that follows it: this package. Package fast has the optimized form.
//
// [SharedIndexInformer] joins all parts, [SharedInformerFactory] has one informer per collection,
// [Lister] reads the store, and [ResourceEventHandler] receives the events. Events are about
// objects of one type T, without boxing or type assertions: a struct of your own (*api.Namespace),
// the metadata that all objects have (*api.PartialObjectMetadata), or any document
// (*api.Unstructured); see the example of [NewSharedIndexInformer].
//
// The informer is level-triggered. An event says that an object is worth looking at; the truth is
// in the store, which may be newer than the event. The handler of a good controller adds the key to
// a work queue and returns.
//
// Two pages are the core: handle_deltas.go, where the store decides the kind of an event, and
// processor.go, the textbook sharedProcessor with its listeners. The parts are behind small
// interfaces ([Queue], [Indexer], [Reflector], [Processor]); [Gears] in [Config] chooses their
// forms.
//
// # Guarantees
//
// Order. A handler receives the events of an object in order, one at a time. There is no order
// between handlers, nor between objects: while the informer is behind, an object keeps its place in
// the queue and accumulates its changes there. (With deltafifo/inorder as its queue, events are in
// order of arrival.)
//
// Completeness. A handler sees a consistent history: an addition of a new object, updates from the
// previous state, a deletion of an added object. Changes while the watch was down arrive as the
// difference between the states before and after; an unobserved deletion is a [DeletedObject] with
// FinalStateUnknown. A handler added later receives the content of the store as of that moment,
// then every later event.
//
// Independence. A slow, stuck or faulty handler delays no other handler. Its backlog is unbounded
// (dropping events would break completeness, waiting would break independence), but visible:
// Snapshot, [Trace].HandlerLagging and [Trace].HandlerStuck. With package fast the backlog of a
// handler that does not need intermediate states can be merged, see [HandlerOptions].
//
// Synced. [SharedIndexInformer.HasSynced] reports whether the first list is in the store;
// [Registration.HasSynced] whether a handler has processed it.
//
// Resync. A handler may ask for periodic updates of every object. They come from the store and cost
// the server nothing. An update without a new resource version, as from a resync or a repeated
// list, goes only to handlers whose resync is due.
//
// Objects in the store are shared by all readers and all handlers. Do not change them; change a
// copy. A lock would not help: others hold the same pointer. The mutation detector
// ([MutationDetectorConfig], or KUBE_CACHE_MUTATION_DETECTOR=true) finds violations.
//
// # Goroutines
//
// Run owns all of them and returns when they have ended: the reflector and its goroutines, the loop
// (on the caller's goroutine), those of the processor (two per handler, or one with package fast),
// and a few that announce the sync, report errors and check callbacks. First the reflector and the
// loop end; then no handler can be added; then the handlers end, then the rest. Removing a handler
// ends its goroutines (client-go issue 1167).
//
// Callbacks run on the goroutine of their handler. They may call any method of the informer; a
// handler that waits for its own removal gets [ErrInsideHandler] instead of a deadlock. A callback
// that never returns keeps Run from returning.
//
// # Failure
//
// The reflector recovers where it can and reports other errors to Config.WatchErrorHandler; see
// package reflector.
//
// A panic in a handler goes to wait.PanicHandlers and ends the process: a faulty controller is
// worse than none. With wait.ReallyCrash off, the event counts as handled and the next one follows;
// a registration nevertheless becomes synced (kubernetes/kubernetes#129024).
//
// An event that cannot be applied, because its object has no key, a transform refuses it or an
// index function fails, is counted and reported as a [*ProcessError]; the next event is processed.
// So is an object of a list, and its key keeps its state. A deletion needs only its key.
//
// # Testing
//
// Package informertest has an in-memory server that can misbehave, and the contract of an informer,
// which this package with all processors and client-go's informer pass, with named differences.
// After random histories every handler must have seen a consistent one that ends in the server's
// state. In synctest bubbles a resync of twenty minutes takes no time, and a leaked goroutine is a
// failure.
//
// Next: package restclient
package informer
