// Package indexer is the store of an informer: objects by key, with indexes for other lookups.
//
// "The article" is the one on the controller manager, named in docs/learn/mechanisms.md. "Textbook"
// is the form that follows it: this package. Package fast has the optimized form.
//
// # Immutable data! Read this!
//
// The store holds pointers and returns the same pointers to every reader. An object that was
// stored, or was read from the store, MUST NOT BE CHANGED: not a field, not a label in its map, not
// an element of its slices. Other goroutines read it at the same time, indexes were computed from
// it, and the next update is compared with it. To change an object, make a deep copy, change the
// copy and send it to the server; the store gets it through the resulting event. Package informer
// has a MutationDetector that finds violations of this rule.
//
// Slices and maps that the store returns belong to the caller.
//
// # Concept
//
// A controller asks two kinds of questions: "what is default/web-1 like?" and "which pods run on
// node n1?". The first is a map lookup. For the second, the store has an index function, object ->
// values, and keeps the objects of each value through every update:
//
//	pods := indexer.New(indexer.Config[*api.Pod]{
//		KeyFunc:  informer.MetaNamespaceKeyFunc[*api.Pod],
//		Indexers: indexer.Indexers[*api.Pod]{"node": byNode},
//	})
//	onNode, err := pods.ByIndex("node", "n1")
//
// A store has these parts, named as in the article:
//
//	items     "default/web-1" ──> object
//	indexers  "node" ──> index function
//	indices   "node" ──> "n1" ──> {"default/web-1", "default/web-2"}
//
// [Interface] documents the methods. The textbook form is store.go, client-go's threadSafeMap, with
// cache.go around it for key function, errors and hooks. The fast form is package fast.
//
// [Interface] names the guarantees, who runs what, and what happens on failure.
//
// # Testing
//
// Package indexertest is a suite that runs against both forms and against client-go's store.
//
// Next: package informer
package indexer
