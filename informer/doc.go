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
//	API server ──▶ Reflector ──▶ DeltaFIFO ──▶ HandleDeltas ──▶ Indexer
//	                                               └──▶ processor ──▶ a listener for each handler
//
// "The article" is the one on the controller manager, named in docs/learn/mechanisms.md. "Textbook"
// is the form that follows it: this package. Package fast has the optimized form. [Gears] in
// [Config] chooses the forms of the parts.
//
// Events are about objects of one type T: a struct of your own (*api.Namespace), the metadata that
// all objects have (*api.PartialObjectMetadata), or any document (*api.Unstructured); see the
// example of [NewSharedIndexInformer].
//
// The informer is level-triggered. An event says that an object is worth looking at; the truth is
// in the store, which may be newer than the event. The handler of a good controller adds the key to
// a work queue and returns.
//
// Two pages are the core: handle_deltas.go, where the store decides the kind of an event, and
// processor.go, the textbook sharedProcessor with its listeners.
//
// Objects in the store are shared by all readers and all handlers. Do not change them; change a
// copy. [MutationDetectorConfig] finds violations.
//
// [SharedIndexInformer] names the guarantees, the goroutines and what happens on failure. Package
// informertest has the contract of an informer as tests.
//
// Next: package restclient
package informer
